/** Native ES modules with types stripped by Node itself: tests run the code that production runs. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/tests'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/tests/support/stripTypes.mjs' },
  moduleFileExtensions: ['ts', 'mjs', 'js', 'json', 'node'],
  testTimeout: 60_000,
  maxWorkers: 2,
};
