import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';

const CHECKOUT = join(import.meta.dirname, '../..');

/**
 * Loads parts of the web app into Node, which reads no JSX. Styles become the names of their classes.
 *
 * @param contents exports what is wanted; its paths are from the root of the checkout
 */
export async function loadForNode<Exports>(contents: string): Promise<Exports> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: CHECKOUT, loader: 'tsx' },
    absWorkingDir: CHECKOUT,
    bundle: true,
    write: false,
    outdir: '/',
    platform: 'node',
    format: 'cjs',
    packages: 'external',
    jsx: 'automatic',
    jsxImportSource: '#console',
    loader: { '.css': 'local-css' },
  });
  const code = outputFiles.find(({ path }) => path.endsWith('.js'))?.text ?? '';
  const made = { exports: {} };
  new Function('require', 'module', code)(createRequire(join(CHECKOUT, 'console/')), made);
  return made.exports as Exports;
}
