import { availableParallelism } from 'node:os';
import { leftOutOf } from './tests/lists.mjs';

/** Node itself loads and strips the modules: tests run the code that production runs. */
const project = {
  roots: ['<rootDir>/tests'],
  testMatch: ['**/*.test.ts'],
  testEnvironment: '<rootDir>/testing/jest/nativeEnvironment.ts',
  runtime: '<rootDir>/testing/jest/nativeRuntime.ts',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'mjs', 'js', 'json', 'node'],
  globalSetup: '<rootDir>/testing/database/server/runStart.mjs',
  globalTeardown: '<rootDir>/testing/database/server/runEnd.mjs',
};

// solana-bankrun's chains keep hundreds of threads until their process ends.
const BANKRUN = ['<rootDir>/tests/programs/parity.test.ts', '<rootDir>/tests/package/'];

// It replaces a module, which takes jest's own runtime: that has a context for each file.
const REPLACING_MODULES = ['<rootDir>/tests/indexer/simulator/simulator.test.ts'];

// It needs Solana's own validator, which `npm run test:validator` starts.
const ON_VALIDATOR = process.env.VALIDATOR_RPC_URL
  ? []
  : ['<rootDir>/tests/validator/service.test.ts'];

const leftOut = leftOutOf(process.env.TESTS_LIST);

export default {
  projects: [
    {
      ...project,
      id: 'service',
      testPathIgnorePatterns: [...BANKRUN, ...REPLACING_MODULES, ...ON_VALIDATOR, ...leftOut],
    },
    {
      ...project,
      id: 'bankrun',
      testMatch: ['**/programs/parity.test.ts', '**/package/*.test.ts'],
      testPathIgnorePatterns: leftOut,
      runner: '<rootDir>/testing/jest/freshProcesses.mjs',
    },
    {
      ...project,
      id: 'replacing-modules',
      testMatch: REPLACING_MODULES,
      testPathIgnorePatterns: leftOut,
      testEnvironment: 'node',
      runtime: 'jest-runtime',
      transform: { '\\.ts$': '<rootDir>/testing/jest/stripTypes.mjs' },
    },
  ],
  reporters: [
    'default',
    '<rootDir>/tests/found/titleReporter.mjs',
    '<rootDir>/testing/jest/notCheckedReporter.mjs',
  ],
  // One more than there are processors: files wait for a ledger's slots and the service's pauses.
  // With twice as many, what has to happen within seconds was late on a machine that did nothing else.
  maxWorkers: availableParallelism() + 1,
  // What a file's modules hold stays until their process ends: ledgers, for one.
  workerIdleMemoryLimit: '300MB',
  // A timer of the service may run out after its test; nothing waits for it but this.
  workerGracefulExitTimeout: 5_000,
};
