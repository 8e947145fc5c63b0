import type fc from 'fast-check';
import type { Model } from '../model/model.js';
import type { ComparedServer } from './compared-server.js';

export type Command = fc.AsyncCommand<Model, ComparedServer>;

/** Asks both for the same and compares the answers. `false`: there is nothing that it could be asked of. */
type Asks = (model: Model, real: ComparedServer) => Promise<void | false>;

/** `told` is what a failure prints. After it everything is compared. */
export function command(told: string, asks: Asks): Command {
  return {
    check: () => true,
    toString: () => told,
    run: async (model, real) => {
      if ((await asks(model, real)) !== false) await real.compare(model);
    },
  };
}

/** One of those that there are by now; a smaller number is an older one. */
export function picked<T>(from: readonly T[], at: number): T | undefined {
  return from[at % Math.max(1, from.length)];
}
