import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Config } from '@jest/types';
import type NativeEnvironment from './nativeEnvironment.ts';
import { type Globals, setGlobals } from './nativeGlobals.ts';
import { timeLimitMs } from './timeLimit.ts';

const require = createRequire(import.meta.url);
const GLOBALS_URL = new URL('./nativeGlobals.ts', import.meta.url).href;
// Where jest-circus keeps what it has for one test file.
const kept = globalThis as { [key: symbol]: unknown };
const TEST_TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: GLOBALS_URL, shortCircuit: true }
      : next(specifier, context),
});

/**
 * Has Node itself load tests and what they test, once for each process. Jest's own runtime loads all
 * of it again for each test file, into a context in which code is slower: twice the processor time.
 */
export default class NativeRuntime {
  readonly #environment: NativeEnvironment;

  constructor(
    _config: Config.ProjectConfig,
    environment: NativeEnvironment,
    ...rest: [...unknown[], Config.GlobalConfig]
  ) {
    const [testPath, { watch, watchAll, testTimeout }] = rest.slice(-2) as [
      string,
      Config.GlobalConfig,
    ];
    if (watch || watchAll)
      throw new Error('Modules are loaded once: start the tests again instead');
    this.#environment = environment;
    kept[TEST_TIMEOUT] = testTimeout ?? timeLimitMs(testPath);
    delete kept[EVENT_HANDLERS];
  }

  /** jest-circus, whose module has the state of one test file. */
  requireInternalModule(path: string): unknown {
    delete require.cache[path];
    return require(path);
  }

  requireModule(path: string): unknown {
    return require(path);
  }

  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  unstable_importModule(path: string): Promise<unknown> {
    return import(pathToFileURL(path).href);
  }

  setGlobalsForRuntime(globals: Omit<Globals, 'jest'>): void {
    setGlobals({ ...globals, jest: createJest(this.#environment) });
  }

  getSourceMaps(): Map<string, string> {
    return new Map();
  }

  getAllCoverageInfoCopy(): undefined {
    return undefined;
  }

  enterTestCode(): void {}

  leaveTestCode(): void {}

  teardown(): void {}
}

/** What the tests use of jest's object; nothing else is there. */
function createJest({
  moduleMocker,
  fakeTimersModern: timers,
}: NativeEnvironment): Globals['jest'] {
  const jest = {
    fn: moduleMocker.fn.bind(moduleMocker),
    spyOn: moduleMocker.spyOn.bind(moduleMocker),
    restoreAllMocks: () => moduleMocker.restoreAllMocks(),
    setTimeout(timeoutMs: number) {
      kept[TEST_TIMEOUT] = timeoutMs;
    },
    useFakeTimers: timers.useFakeTimers.bind(timers),
    useRealTimers: timers.useRealTimers.bind(timers),
    advanceTimersByTime: timers.advanceTimersByTime.bind(timers),
    advanceTimersByTimeAsync: timers.advanceTimersByTimeAsync.bind(timers),
  };
  return jest as unknown as Globals['jest'];
}
