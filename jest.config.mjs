// Two projects: `unit` needs nothing and takes a second, `database` runs on a real PostgreSQL (test/support/global-setup.mjs).
const swc = (module, syntax) => [
  '@swc/jest',
  {
    jsc: {
      parser: syntax === 'typescript' ? { syntax, decorators: true } : { syntax },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      target: 'es2023',
      keepClassNames: true,
    },
    module: { type: module },
    sourceMaps: 'inline',
  },
];

const shared = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  setupFiles: ['reflect-metadata'],
  transform: {
    '^.+\\.ts$': swc('es6', 'typescript'),
    // On Node 20 Jest cannot require() an ES module, which @fastify/static does with these two.
    'node_modules/(content-disposition|cookie)/.+\\.js$': swc('commonjs', 'ecmascript'),
  },
  transformIgnorePatterns: ['/node_modules/(?!(content-disposition|cookie)/)'],
};

export default {
  coverageProvider: 'v8',
  // Most of a suite's time is loading the program and waiting for PostgreSQL: every core is used, the last one too.
  maxWorkers: '100%',
  // Each file leaves something of the program it has loaded: after a hundred a worker had 3.5 GB, which cost it more and more
  // time to clean up, and at the end to exit.
  workerIdleMemoryLimit: '1.5GB',
  // A machine that does other things as well is slow, not wrong: a test that hangs is still found. Jest reads it here only.
  testTimeout: 30_000,
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/test/architecture/**/*.spec.ts'],
    },
    {
      ...shared,
      displayName: 'database',
      testMatch: ['<rootDir>/test/{db,http,race,process,embedded,storm,upgrade}/**/*.spec.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
      globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
    },
  ],
};
