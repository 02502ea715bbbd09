import TestRunner from 'jest-runner';

/** Runs each test file in its own process. */
export default class FreshProcesses extends TestRunner {
  constructor(globalConfig, context) {
    // 0 ends a worker after each file, with any memory in use.
    super({ ...globalConfig, workerIdleMemoryLimit: 0 }, context);
  }
}
