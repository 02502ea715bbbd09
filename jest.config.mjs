/** Native ES modules with types stripped by Node itself: tests run the code that production runs. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/tests'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/tests/support/stripTypes.mjs' },
  moduleFileExtensions: ['ts', 'mjs', 'js', 'json', 'node'],
  testTimeout: 60_000,
  // One file at a time, since most start a ledger and a database of their own; and in a worker that
  // is replaced when it has grown, since solana-bankrun's chains keep their threads and memory.
  maxWorkers: 1,
  workerIdleMemoryLimit: '400MB',
};
