import jest from 'eslint-plugin-jest';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

// Rules that catch mistakes. Layout is prettier's business, the architecture that of dependency-cruiser and test/architecture.
const correctness = {
  'array-callback-return': 'error',
  eqeqeq: ['error', 'always', { null: 'ignore' }],
  'no-cond-assign': 'error',
  'no-constant-binary-expression': 'error',
  'no-constructor-return': 'error',
  'no-dupe-else-if': 'error',
  'no-duplicate-imports': 'error',
  'no-empty': 'error',
  'no-fallthrough': 'error',
  'no-self-compare': 'error',
  'no-sparse-arrays': 'error',
  'no-template-curly-in-string': 'error',
  'no-unmodified-loop-condition': 'error',
  'no-unsafe-finally': 'error',
  'no-unsafe-optional-chaining': 'error',
  'no-useless-assignment': 'error',
  'no-useless-catch': 'error',
  'no-var': 'error',
  'prefer-const': ['error', { ignoreReadBeforeAssign: true }],
};

const tests = ['test/**/*.ts', '**/*.spec.ts', '**/*.fixture.ts'];

export default defineConfig(
  globalIgnores(['dist/', 'coverage/', '.mediator/', 'test/clients/*.ts']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' }, rules: correctness },
  { files: ['**/*.mjs', '**/*.cjs'], rules: { 'no-unused-vars': 'error' } },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // A class that Nest injects must stay a value import: the rule sees that by emitDecoratorMetadata in tsconfig.json.
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // An interface's method may be async without awaiting anything.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: tests,
    plugins: { jest },
    rules: {
      // Tests read answers of the server as they come: their shape is what is being tested.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-redundant-type-constituents': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['**/*.spec.ts'],
    extends: [jest.configs['flat/recommended']],
    // The globals come from @jest/globals.
    settings: { jest: { version: 30 } },
    rules: {
      // Helpers that hold a test's assertions are named `expect…`, or here.
      'jest/expect-expect': [
        'error',
        { assertFunctionNames: ['expect', 'expect*', '**.expect*', 'fc.assert', 'fiveTimes', 'promotedAround'] },
      ],
      'jest/no-disabled-tests': 'error',
      'jest/no-standalone-expect': [
        'error',
        { additionalTestBlockFunctions: ['beforeAll', 'beforeEach', 'afterEach', 'afterAll'] },
      ],
      'jest/no-focused-tests': 'error',
      'jest/prefer-importing-jest-globals': 'error',
      // Titles begin with what the test is about, which may be "it".
      'jest/valid-title': 'off',
    },
  },
  // Samples of programs, as text.
  { files: ['test/architecture/**', 'test/mutants/**'], rules: { 'no-template-curly-in-string': 'off' } },
  { files: ['**/*.properties.spec.ts'], rules: { 'jest/no-conditional-expect': 'off' } },
);
