import { ModernFakeTimers } from '@jest/fake-timers';
import type { Config } from '@jest/types';
import { ModuleMocker } from 'jest-mock';
import { openProgramFolder } from '../machine/programFolder.ts';

/** The process's own globals, which a test file leaves as it found them. */
export default class NativeEnvironment {
  readonly global = globalThis;
  /** Jest's older kind. */
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly #console = globalThis.console;
  readonly #exit = process.exit;
  readonly #variables = { ...process.env };

  constructor({ projectConfig }: { projectConfig: Pick<Config.ProjectConfig, 'fakeTimers'> }) {
    // Of which it reads no more.
    const config = projectConfig as Config.ProjectConfig;
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
    process.env.PATH = openProgramFolder();
    // A shell reads the files that the first two name even when its options leave out all others. The
    // third is the list of this run, not of one that a test starts.
    for (const name of ['BASH_ENV', 'ENV', 'TESTS_LIST']) delete process.env[name];
  }

  async setup(): Promise<void> {}

  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    globalThis.console = this.#console;
    process.exit = this.#exit;
    for (const name of Object.keys(process.env)) {
      if (!(name in this.#variables)) delete process.env[name];
    }
    Object.assign(process.env, this.#variables);
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }

  /** There is none: jest asks for one, and uses it for coverage alone. */
  getVmContext(): null {
    return null;
  }
}
