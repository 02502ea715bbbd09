// Packages that another one contains, each as a single file. An install would bring their own
// dependencies, too: for web3.js 30 MB.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './pinnedNode.mjs';

/** CommonJS inside a bundle needs it to load Node's own modules. */
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
/** The folder of the package that a bundled file belongs to, and its name. */
const PACKAGE_OF = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))/;
const LICENCE_FILE = /^(licen[cs]e|copying)/i;

const INTEROPERATION = new Set(['default', '__esModule', 'module.exports']);
/** Optional packages that make others faster. */
const ACCELERATORS = ['bufferutil', 'utf-8-validate', 'encoding'];

/**
 * @param file where the code goes; for CommonJS one that ends in .cjs
 * @param external packages that are installed beside it instead
 * @returns the licences of everything in it, with their texts
 */
export async function bundle(name, { file, external }) {
  const isCommonJs = file.endsWith('.cjs');
  // By name, since a module of CommonJS has no list of its exports.
  const exported = Object.keys(await import(name)).filter((key) => !INTEROPERATION.has(key));
  const { metafile } = await build({
    stdin: { contents: `export { ${exported} } from '${name}';`, resolveDir: root },
    bundle: true,
    platform: 'node',
    format: isCommonJs ? 'cjs' : 'esm',
    target: isCommonJs ? 'node20' : 'node22',
    outfile: file,
    absWorkingDir: root,
    banner: { js: isCommonJs ? '' : REQUIRE },
    external: [...ACCELERATORS, ...external.filter((other) => other !== name)],
    metafile: true,
  });
  const folders = new Map();
  for (const input of Object.keys(metafile.inputs)) {
    const [, folder, packageName] = PACKAGE_OF.exec(input) ?? [];
    if (folder) folders.set(folder, packageName);
  }
  return [...folders].map(([folder, packageName]) => licenceOf(join(root, folder), packageName));
}

/** @throws Error when the package has none */
function licenceOf(folder, name) {
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((entry) => LICENCE_FILE.test(entry));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (!license && texts.length === 0) throw new Error(`${name} names no licence`);
  return [`${name} ${version}: ${license ?? 'see below'}`, ...texts].join('\n\n');
}
