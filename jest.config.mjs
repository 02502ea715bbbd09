/** Native ES modules with types stripped by Node itself: tests run the code that production runs. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/tests'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/tests/support/stripTypes.mjs' },
  moduleFileExtensions: ['ts', 'mjs', 'js', 'json', 'node'],
  globalSetup: '<rootDir>/tests/support/databaseServer/runStart.mjs',
  globalTeardown: '<rootDir>/tests/support/databaseServer/runEnd.mjs',
  testTimeout: 60_000,
  // One file at a time, since most start a ledger and a database of their own; and each in a fresh
  // process (any file's heap is above this limit), since solana-bankrun's chains keep hundreds of
  // threads until their process ends.
  maxWorkers: 1,
  workerIdleMemoryLimit: '16MB',
};
