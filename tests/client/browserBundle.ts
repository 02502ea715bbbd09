import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { createContext, runInContext, runInThisContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';

/** For what hangs: a machine that does much else takes long to start a browser. */
const LAUNCH_TIMEOUT_MS = 100_000;
const checkout = join(import.meta.dirname, '../..');

/** What the program of a test inside the bundle can call. */
export type Call = (argument: string) => Promise<string>;

export interface Bundle {
  readonly code: string;
  readonly gzipBytes: number;
  /** Every file in the bundle. */
  readonly inputs: readonly string[];
  /** Modules of Node that the bundle would load. */
  readonly builtins: readonly string[];
}

/** Bundles a program for browsers, with the defaults of esbuild. */
export async function bundleForBrowser(entry: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(checkout, entry)],
    absWorkingDir: checkout,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'bundled',
    // A built-in module is left for the test to find.
    external: builtinModules.flatMap((name) => [name, `node:${name}`]),
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('esbuild wrote nothing');
  const [output] = Object.values(metafile.outputs);
  return {
    code: file.text,
    gzipBytes: gzipSync(file.contents, { level: 9 }).length,
    inputs: Object.keys(metafile.inputs),
    builtins: (output?.imports ?? []).map(({ path }) => path),
  };
}

/** Where a bundle runs. */
export interface Runtime {
  readonly name: 'Chromium' | 'node:vm';
  /** Calls a function of the bundle with a text. */
  call(name: string, argument: string): Promise<string>;
  /** Names of Node's globals that the bundle can see. */
  nodeGlobals(): Promise<string>;
  close(): Promise<void>;
}

const NODE_GLOBALS = `['process', 'Buffer', 'require', 'global', 'setImmediate'].filter((name) => name in globalThis).join()`;

/**
 * Runs a bundle in Chromium.
 *
 * @param host what the bundle may call as `host(text)`
 */
export async function runInChromium(
  code: string,
  executablePath: string,
  host: Call,
): Promise<Runtime> {
  const browser = await chromium.launch({
    executablePath,
    timeout: LAUNCH_TIMEOUT_MS,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
  const page = await browser.newPage();
  await page.exposeFunction('host', host);
  await page.addScriptTag({ content: code });
  return {
    name: 'Chromium',
    call: (name, argument) =>
      page.evaluate(`bundled[${JSON.stringify(name)}](${JSON.stringify(argument)})`),
    nodeGlobals: () => page.evaluate(NODE_GLOBALS),
    close: () => browser.close(),
  };
}

/** Runs a bundle in a context with nothing of Node, and of browsers what the bundle needs. */
export async function runInVm(code: string, host: Call): Promise<Runtime> {
  const context = createContext({ host, TextEncoder, TextDecoder, setTimeout });
  runInContext(code, context);
  return {
    name: 'node:vm',
    call: (name, argument) =>
      runInContext(`bundled[${JSON.stringify(name)}](${JSON.stringify(argument)})`, context),
    nodeGlobals: async () => runInContext(NODE_GLOBALS, context),
    async close() {},
  };
}

/** Runs a bundle in the test's own process, beside other packages, and returns its exports. */
export function runHere<Exports>(code: string): Exports {
  return runInThisContext(`(() => { ${code}; return bundled; })()`) as Exports;
}
