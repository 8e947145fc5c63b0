import fc from 'fast-check';
import { contracts } from '../../../src/domain/steps/contract-arbitrary.fixture.js';

const ROLES = ['a', 'b', 'c', 'd', 'e', 'f'];
const OK = { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } };

/** Short contracts that take few nodes and soon end: a role, some steps of every plain kind, now and then what nobody offers. */
const short: fc.Arbitrary<any> = fc
  .record({
    roles: fc.uniqueArray(fc.constantFrom(...ROLES), { minLength: 1, maxLength: 2 }),
    kinds: fc.array(fc.constantFrom('run', 'run', 'agent', 'ask', 'judged'), { minLength: 1, maxLength: 3 }),
    answerers: fc.option(fc.constantFrom(['ann'], ['ann', 'bob']), { nil: undefined }),
    special: fc.constantFrom('', '', '', '', 'nobody', 'wide', 'work'),
  })
  .map(({ roles, kinds, answerers, special }) => {
    const as = special === 'wide' ? ROLES : roles;
    const requires = as.map((role) => ({ as: role, capability: 'board', attrs: { role } }));
    const steps = kinds.map((kind, index) => {
      const id = `s${index + 1}`;
      if (kind === 'ask')
        return { id, ask: { prompt: `${id}?`, ...(answerers && { answerers }) }, out: ['v'], schema: { v: OK } };
      const out = [`o${index + 1}`];
      const judged = kind === 'judged' ? { out, schema: { [out[0]!]: OK } } : { out };
      return { id, uses: as[0], ...(kind === 'agent' ? { agent: { goal: id } } : { run: ['true'] }), ...judged };
    });
    return {
      requires: special === 'nobody' ? [...requires, { as: 'z', capability: 'nothing-like-it' }] : requires,
      ...(special === 'wide' && { spread: true }),
      ...(special === 'work' && { work: { system: 'gerrit', change_id: '4711', note: '😀' } }),
      steps,
    };
  });

export const CONTRACTS: fc.Arbitrary<any> = fc.oneof(
  { weight: 4, arbitrary: short },
  { weight: 1, arbitrary: contracts({ maxSteps: 8 }) },
);
