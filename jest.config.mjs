import { availableParallelism } from 'node:os';

/** Native ES modules with types stripped by Node itself: tests run the code that production runs. */
const project = {
  testEnvironment: 'node',
  roots: ['<rootDir>/tests'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/testing/jest/stripTypes.mjs' },
  moduleFileExtensions: ['ts', 'mjs', 'js', 'json', 'node'],
  globalSetup: '<rootDir>/testing/database/server/runStart.mjs',
  globalTeardown: '<rootDir>/testing/database/server/runEnd.mjs',
};

// solana-bankrun's chains keep hundreds of threads until their process ends.
const BANKRUN_FOLDERS = ['<rootDir>/tests/programs/', '<rootDir>/tests/package/'];

export default {
  projects: [
    { ...project, id: 'service', testPathIgnorePatterns: BANKRUN_FOLDERS },
    {
      ...project,
      id: 'bankrun',
      roots: BANKRUN_FOLDERS,
      runner: '<rootDir>/testing/jest/freshProcesses.mjs',
    },
  ],
  testTimeout: 60_000,
  // One more than there are processors: files wait for a ledger's slots and the service's pauses.
  // With twice as many, what has to happen within seconds was late on a machine that did nothing else.
  maxWorkers: availableParallelism() + 1,
  // Each file leaves some of its modules behind.
  workerIdleMemoryLimit: '512MB',
  // A timer of the service may run out after its test; nothing waits for it but this.
  workerGracefulExitTimeout: 5_000,
};
