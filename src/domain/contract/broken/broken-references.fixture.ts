import { acquire, agent, ask, broken, type BrokenContract, contractOf, run } from './broken-contract.fixture.js';

const loop = (more: Record<string, unknown> = {}): unknown => ({
  back_to: 's',
  max: 3,
  until: { exit_code: 0 },
  ...more,
});
const looping = (more: Record<string, unknown>): unknown => contractOf([run('s', { loop: loop(more) })]);
const acquiring = (more: Record<string, unknown>, ...steps: unknown[]): unknown =>
  contractOf([acquire('get', more), ...steps]);
const dispatching = (dispatch: unknown, ...steps: unknown[]): unknown =>
  contractOf([run('s', { out: ['choice'], dispatch }), ...(steps.length > 0 ? steps : [run('x'), run('y')])]);
const judged = (condition: unknown, step = run('s', { out: ['o'] })): unknown =>
  contractOf([step], { success_when: [condition] });
const to = ['x', 'y'];

export const BROKEN_REFERENCES: BrokenContract[] = [
  broken('needs no array', '/steps/1/needs', /an array/, contractOf([run('s'), run('t', { needs: 's' })])),
  broken('needs null', '/steps/1/needs', /an array/, contractOf([run('s'), run('t', { needs: null })])),
  broken('needs no string', '/steps/1/needs/0', /a string/, contractOf([run('s'), run('t', { needs: [0] })])),
  broken(
    'needs an unknown step',
    '/steps/1/needs/0',
    /no step "z"/,
    contractOf([run('s'), run('t', { needs: ['z'] })]),
  ),
  broken('needs a later step', '/steps/0/needs/0', /earlier/, contractOf([run('s', { needs: ['t'] }), run('t')])),
  broken('needs itself', '/steps/0/needs/0', /earlier/, contractOf([run('s', { needs: ['s'] })])),
  broken(
    'needs a step twice',
    '/steps/1/needs/1',
    /already named/,
    contractOf([run('s'), run('t', { needs: ['s', 's'] })]),
  ),
  broken(
    'in no output',
    '/steps/1/in/0',
    /No step that comes before/,
    contractOf([run('s'), run('t', { in: ['image'] })]),
  ),
  broken(
    'in its own output',
    '/steps/0/in/0',
    /No step that comes before/,
    contractOf([run('s', { in: ['o'], out: ['o'] })]),
  ),
  broken(
    'in the output of a step beside it',
    '/steps/1/in/0',
    /comes before/,
    contractOf([run('s', { out: ['o'] }), run('t', { needs: [], in: ['o'] })]),
  ),
  broken('acquired unknown', '/steps/0/acquire/acquired', /no step "yes"/, acquiring({}, run('no'))),
  broken('unavailable unknown', '/steps/0/acquire/unavailable', /no step "no"/, acquiring({}, run('yes'))),
  broken(
    'acquired earlier',
    '/steps/1/acquire/acquired',
    /later step/,
    contractOf([run('yes'), acquire('get'), run('no')]),
  ),
  broken(
    'unavailable is the step itself',
    '/steps/0/acquire/unavailable',
    /later step/,
    acquiring({ unavailable: 'get' }, run('yes')),
  ),
  broken(
    'branches of an acquire not distinct',
    '/steps/0/acquire/unavailable',
    /distinct/,
    acquiring({ unavailable: 'yes' }, run('yes')),
  ),
  broken(
    'acquired missing',
    '/steps/0/acquire/acquired',
    /required/,
    contractOf([{ id: 'get', acquire: { want: { as: 'b', capability: 'board' }, unavailable: 'no' } }, run('no')]),
  ),
  broken(
    'acquire with a branch that is never reached',
    '/steps/0/acquire/unavailable',
    /never be reached/,
    acquiring({}, run('yes'), run('no', { needs: ['yes'] })),
  ),
  broken(
    'acquired role declared already',
    '/steps/0/acquire/want/as',
    /already/,
    contractOf([acquire('get', {}, { as: 'a' }), run('yes'), run('no')]),
  ),
  broken(
    'acquired role used before',
    '/steps/0/uses',
    /does not come after/,
    contractOf([run('s', { uses: 'b' }), acquire('get'), run('yes'), run('no')]),
  ),
  broken(
    'acquired role used beside',
    '/steps/3/uses',
    /does not come after/,
    acquiring({}, run('yes'), run('no'), run('t', { uses: 'b', needs: [] })),
  ),
  broken('release no array', '/steps/0/release', /an array/, contractOf([run('s', { release: 'a' })])),
  broken('release of no role', '/steps/0/release/0', /no role "z"/, contractOf([run('s', { release: ['z'] })])),
  broken(
    'release before the last use',
    '/steps/0/release/0',
    /"t" does not/,
    contractOf([run('s', { release: ['a'] }), run('t')]),
  ),
  broken(
    'release beside a use',
    '/steps/1/release/0',
    /"s" does not/,
    contractOf([run('s'), run('t', { needs: [], release: ['a'] })]),
  ),
  broken(
    'release before it was acquired',
    '/steps/0/release/0',
    /does not come after/,
    contractOf([run('s', { release: ['b'] }), acquire('get'), run('yes'), run('no')]),
  ),
  broken(
    'release in a loop',
    '/steps/0/release/0',
    /range of a loop/,
    contractOf([run('s', { release: ['c'] }), run('t', { loop: loop() })], {
      requires: [
        { as: 'a', capability: 'x' },
        { as: 'c', capability: 'x' },
      ],
    }),
  ),
  broken(
    'release where the loop ends',
    '/steps/0/release/0',
    /range of a loop/,
    contractOf([run('s', { release: ['a'], loop: loop() })]),
  ),
  broken('dispatch no object', '/steps/0/dispatch', /is an object/, dispatching(to)),
  broken(
    'unknown key in dispatch',
    '/steps/0/dispatch/default',
    /Unknown key/,
    dispatching({ from: 'choice', to, default: 'x' }),
  ),
  broken('from missing', '/steps/0/dispatch/from', /required/, dispatching({ to })),
  broken(
    'from no output of the step',
    '/steps/0/dispatch/from',
    /"out" of this step/,
    dispatching({ from: 'choices.next', to }),
  ),
  broken(
    'from with an empty field',
    '/steps/0/dispatch/from',
    /after a dot/,
    dispatching({ from: 'choice..next', to }),
  ),
  broken('to missing', '/steps/0/dispatch/to', /required/, dispatching({ from: 'choice' })),
  broken('to with one choice', '/steps/0/dispatch/to', /at least two/, dispatching({ from: 'choice', to: ['x'] })),
  broken(
    'to with a choice twice',
    '/steps/0/dispatch/to/1',
    /distinct/,
    dispatching({ from: 'choice', to: ['x', 'x'] }),
  ),
  broken(
    'to an unknown step',
    '/steps/0/dispatch/to/1',
    /no step "z"/,
    dispatching({ from: 'choice', to: ['x', 'z'] }),
  ),
  broken('to the step itself', '/steps/0/dispatch/to/1', /later step/, dispatching({ from: 'choice', to: ['x', 's'] })),
  broken(
    'dispatch with a choice that is never reached',
    '/steps/0/dispatch/to/1',
    /never be reached/,
    dispatching({ from: 'choice', to }, run('x'), run('m', { needs: ['x'] }), run('y', { needs: ['m'] })),
  ),
  broken(
    'dispatch out of a loop',
    '/steps/0/dispatch/to/1',
    /comes after the loop/,
    dispatching({ from: 'choice', to }, run('x', { loop: loop() }), run('y')),
  ),
  broken('loop no object', '/steps/0/loop', /is an object/, contractOf([run('s', { loop: 3 })])),
  broken('unknown key in loop', '/steps/0/loop/times', /Unknown key/, looping({ times: 3 })),
  broken('back_to unknown', '/steps/0/loop/back_to', /no step "z"/, looping({ back_to: 'z' })),
  broken(
    'back_to later',
    '/steps/0/loop/back_to',
    /is later/,
    contractOf([run('s', { loop: loop({ back_to: 't' }) }), run('t')]),
  ),
  broken('max 1', '/steps/0/loop/max', /2 to 100/, looping({ max: 1 })),
  broken('max 101', '/steps/0/loop/max', /2 to 100/, looping({ max: 101 })),
  broken('until empty', '/steps/0/loop/until', /must be given/, looping({ until: {} })),
  broken(
    'unknown key in until',
    '/steps/0/loop/until/exitcode',
    /Unknown key/,
    looping({ until: { exit_code: 0, exitcode: 0 } }),
  ),
  broken(
    'until.exit_code no integer',
    '/steps/0/loop/until/exit_code',
    /integer/,
    looping({ until: { exit_code: '0' } }),
  ),
  broken(
    'until.exit_code without allow_failure',
    '/steps/0/loop/until/exit_code',
    /allow_failure/,
    looping({ until: { exit_code: 3 } }),
  ),
  broken(
    'until.exit_code of an agent',
    '/steps/0/loop/until/exit_code',
    /Only a step with "run"/,
    contractOf([agent('s', { loop: loop() })]),
  ),
  broken(
    'until.produced no output',
    '/steps/0/loop/until/produced/0',
    /does not promise/,
    looping({ until: { produced: ['o'] } }),
  ),
  broken(
    'loop in a loop',
    '/steps/2/loop/back_to',
    /must not nest/,
    contractOf([run('s'), run('t', { loop: loop({ back_to: 't' }) }), run('u', { loop: loop() })]),
  ),
  broken(
    'loops that overlap',
    '/steps/2/loop/back_to',
    /overlap/,
    contractOf([run('s'), run('t', { loop: loop() }), run('u', { loop: loop({ back_to: 't' }) })]),
  ),
  broken('condition no object', '/success_when/0', /is an object/, judged('s')),
  broken(
    'unknown key in a condition',
    '/success_when/0/exit',
    /Unknown key/,
    judged({ step: 's', exit_code: 0, exit: 0 }),
  ),
  broken('condition without step', '/success_when/0/step', /required/, judged({ exit_code: 0 })),
  broken('condition on an unknown step', '/success_when/0/step', /no step "z"/, judged({ step: 'z', exit_code: 0 })),
  broken('condition that judges nothing', '/success_when/0', /must be given/, judged({ step: 's' })),
  broken('exit_code no integer', '/success_when/0/exit_code', /integer/, judged({ step: 's', exit_code: 0.5 })),
  broken(
    'exit_code of an agent',
    '/success_when/0/exit_code',
    /Only a step with "run"/,
    judged({ step: 's', exit_code: 0 }, agent('s')),
  ),
  broken(
    'exit_code of a question',
    '/success_when/0/exit_code',
    /Only a step with "run"/,
    judged({ step: 's', exit_code: 0 }, ask('s')),
  ),
  broken(
    'exit_code without allow_failure',
    '/success_when/0/exit_code',
    /allow_failure/,
    judged({ step: 's', exit_code: 1 }),
  ),
  broken('produced no array', '/success_when/0/produced', /an array/, judged({ step: 's', produced: 'o' })),
  broken(
    'produced no output',
    '/success_when/0/produced/0',
    /does not promise/,
    judged({ step: 's', produced: ['p'] }),
  ),
];
