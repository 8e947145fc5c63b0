/*
 * The direction of src/: a room imports what stands in a lower row, never a neighbour and never a higher one. In ES modules
 * with decorators a circle is a crash at start, depending on who enters first.
 */
const ROWS = [
  ['domain'],
  ['platform'],
  ['records'],
  ['bodies'],
  ['fleet'],
  ['leases'],
  ['steps'],
  ['queue'],
  ['runs'],
  ['submission', 'nodes', 'execution', 'asks', 'reaper'],
];
/** These see only the platform and the domain, and nobody but the application sees them. */
const ASIDE = ['health', 'docs'];

const inside = (...rooms) => `^src/(${rooms.join('|')})/`;
const APPLICATION = '^src/[^/]+\\.ts$';
const ALL = [...ROWS.flat(), ...ASIDE];

const direction = ROWS.flatMap((row, index) => {
  const below = ROWS.slice(0, index).flat();
  return row.map((room) => ({
    name: `direction-${room}`,
    comment: `${room} imports itself and ${below.join(', ') || 'nothing else'}`,
    severity: 'error',
    from: { path: inside(room) },
    to: { path: '^src/', pathNot: inside(room, ...below) },
  }));
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...direction,
    ...ASIDE.map((room) => ({
      name: `direction-${room}`,
      comment: `${room} sees only the platform and the domain`,
      severity: 'error',
      from: { path: inside(room) },
      to: { path: '^src/', pathNot: inside(room, 'domain', 'platform') },
    })),
    {
      name: 'known-rooms',
      comment: 'a new folder of src/ takes its place in the direction first',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: [APPLICATION, inside(...ALL)] },
    },
    {
      name: 'known-rooms-from',
      comment: 'the same, for a folder that nobody imports yet',
      severity: 'error',
      from: { path: '^src/', pathNot: [APPLICATION, inside(...ALL)] },
      to: {},
    },
    {
      name: 'no-circles',
      comment: 'type-only imports count too: the next edit makes them real',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'pure-domain',
      comment: 'no framework, no database, no clock: the domain is functions',
      severity: 'error',
      from: { path: inside('domain'), pathNot: '\\.(spec|fixture)\\.ts$' },
      to: {
        dependencyTypesNot: ['local'],
        pathNot: ['^crypto$', '^(node:)?crypto$', 'node_modules/(ajv|ajv-formats|re2js|canonicalize|jsonc-parser)/'],
      },
    },
    {
      name: 'database-in-platform',
      comment: 'who needs the database is given a Queryable or a Tx',
      severity: 'error',
      from: { path: '^src/', pathNot: inside('platform') },
      to: { path: '(^|/)node_modules/(@types/)?(typeorm|pg|@nestjs/typeorm)(/|$)' },
    },
    {
      name: 'migrations-stand-alone',
      comment: 'a released migration must not change because the program did',
      severity: 'error',
      from: { path: '^migrations/' },
      to: { pathNot: ['^migrations/', 'node_modules/typeorm/'] },
    },
    {
      name: 'migrations-seen-by-database',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/platform/sessions/open-source\\.ts$' },
      to: { path: '^migrations/' },
    },
    {
      name: 'no-barrels',
      severity: 'error',
      from: {},
      to: { path: '^(src|test|migrations)/.*index\\.ts$' },
    },
    {
      name: 'no-tests-in-program',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: '\\.(spec|fixture)\\.ts$' },
      to: { path: ['^test/', '\\.(spec|fixture)\\.ts$'] },
    },
    {
      name: 'no-dev-dependencies-in-program',
      comment: 'npm ci --omit=dev must still start',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: '\\.(spec|fixture)\\.ts$' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'undetermined', 'unknown'],
        dependencyTypesNot: ['type-only'],
        pathNot: '^node_modules/@types/',
      },
    },
    {
      name: 'everything-resolves',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
