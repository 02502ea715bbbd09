// `npm run build`: compiles what the package ships into dist/, which mirrors the checkout's folders,
// so that files read at run time are found at the same place relative to the code.
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './pinnedNode.mjs';

const READ_AT_RUN_TIME = ['programs/escrow/artifacts', 'indexer/migrations'];

const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
const compiler = join(root, 'node_modules/.bin/tsc');
const { status } = spawnSync(compiler, ['-p', join(root, 'tsconfig.build.json')], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(1);
for (const folder of READ_AT_RUN_TIME) {
  cpSync(join(root, folder), join(dist, folder), { recursive: true });
}

// Nearer to the compiled files than the checkout's own: it names the compiled form of each import
// that differs between Node and browsers.
const { type, imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const compiled = JSON.parse(JSON.stringify(imports).replaceAll('.ts"', '.js"'));
writeFileSync(
  join(dist, 'package.json'),
  `${JSON.stringify({ type, imports: compiled }, undefined, 2)}\n`,
);
