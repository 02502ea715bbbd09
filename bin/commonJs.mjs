// What `require` loads of a package: each compiled file has a twin for CommonJS beside it, with its
// types. Jest, NestJS, ts-node and TypeScript's own defaults load packages so. Node 20 before 20.19
// has no other way.
import { transform } from 'esbuild';

/** Packages without a form for CommonJS: the twins contain them, since jest loads no ESM. */
export const ESM_ONLY = ['@scure/base'];

const LOCAL = /((?:from|import)\s*\(?\s*["']\.[^"']+)\.[jt]s(["'])/g;
const MODULE_URL = "const moduleUrl = require('node:url').pathToFileURL(__filename).href;";

/** @param types the text of a .d.ts file, for a .d.cts */
export function typesForCommonJs(types) {
  return types.replace(LOCAL, '$1.cjs$2');
}

/** @param code a module, for a .cjs file beside it */
export async function codeForCommonJs(code) {
  const made = await transform(code.replace(LOCAL, '$1.cjs$2'), {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    define: { 'import.meta.dirname': '__dirname', 'import.meta.url': 'moduleUrl' },
    // Node has it, and jest lacks it.
    supported: { 'dynamic-import': false },
    banner: code.includes('import.meta.url') ? MODULE_URL : '',
  });
  return made.code;
}
