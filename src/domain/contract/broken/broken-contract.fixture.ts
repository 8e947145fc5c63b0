export interface BrokenContract {
  /** The rule that is broken. */
  name: string;
  contract: unknown;
  /** Where the fault is. */
  pointer: string;
  /** What the sentence has to say. */
  says: RegExp;
}

export function broken(name: string, pointer: string, says: RegExp, contract: unknown): BrokenContract {
  return { name, pointer, says, contract };
}

type Json = Record<string, unknown>;

/** A contract with one role, `a`, and the steps given. */
export function contractOf(steps: unknown, more: Json = {}): Json {
  return { requires: [{ as: 'a', capability: 'build' }], steps, ...more };
}

export function run(id: string, more: Json = {}): Json {
  return { id, uses: 'a', run: ['true'], ...more };
}

export function agent(id: string, more: Json = {}): Json {
  return { id, uses: 'a', agent: {}, ...more };
}

export function acquire(id: string, more: Json = {}, want: Json = {}): Json {
  const spec = { want: { as: 'b', capability: 'board', ...want }, acquired: 'yes', unavailable: 'no', ...more };
  return { id, acquire: spec };
}

export function ask(id: string, more: Json = {}, step: Json = {}): Json {
  const schema = { answer: { type: 'object' } };
  return { id, ask: { prompt: 'Well?', ...more }, out: ['answer'], schema, ...step };
}

export function without(key: string, from: Json): Json {
  return Object.fromEntries(Object.entries(from).filter(([name]) => name !== key));
}

export function nested(depth: number): unknown {
  return depth === 0 ? {} : { deeper: nested(depth - 1) };
}
