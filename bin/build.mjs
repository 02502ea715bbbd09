// `npm run build`: compiles the packages that others install. Each gets a `dist` that mirrors the
// checkout's folders, so that files read at run time are found at the same place relative to the code.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PACKAGES } from './packages.mjs';
import { root } from './pinnedNode.mjs';

const compiled = join(root, 'dist');
const SPECIFIER = /(?:from|import)\s*\(?\s*["']([^"']+)["']/g;
/** Files that code reads by a URL of its own. */
const READ =
  /new URL\(\s*['"`](\.[^'"`]+)['"`]\s*,\s*import\.meta\.url|import\.meta\.dirname, '(\.[^']+)'/g;

rmSync(compiled, { recursive: true, force: true });
const compiler = join(root, 'node_modules/.bin/tsc');
const { status } = spawnSync(compiler, ['-p', join(root, 'tsconfig.build.json')], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(1);

const { imports } = JSON.parse(readFileSync(join(root, 'programs/client/package.json'), 'utf8'));
const targets = Object.fromEntries(
  Object.entries(imports).map(([name, choice]) => [name, Object.values(choice)]),
);

/** Compiled files that these lead to, as paths without their endings. */
function reachedFrom(entries) {
  const reached = new Set();
  const visit = (path) => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const ending of ['.js', '.d.ts']) {
      const file = join(compiled, path + ending);
      if (!existsSync(file)) continue;
      for (const [, name] of readFileSync(file, 'utf8').matchAll(SPECIFIER)) {
        const chosen = targets[name]?.map((target) => join('programs/client', target)) ?? [];
        const own = name.startsWith('.') ? [join(dirname(path), name)] : chosen;
        for (const target of own) visit(target.replace(/(\.d)?\.[jt]s$/, ''));
      }
    }
  };
  for (const entry of entries) visit(entry);
  return reached;
}

for (const { folder, entries } of Object.values(PACKAGES)) {
  const dist = join(root, folder, 'dist');
  rmSync(dist, { recursive: true, force: true });
  const copy = (path) => {
    mkdirSync(dirname(join(dist, path)), { recursive: true });
    cpSync(join(compiled, path), join(dist, path), { recursive: true });
  };
  for (const path of reachedFrom(entries)) {
    // An import of something else than code names its own ending.
    const files = path.endsWith('.json') ? [path] : [`${path}.js`, `${path}.d.ts`];
    for (const file of files) if (existsSync(join(compiled, file))) copy(file);
    const script = join(compiled, `${path}.js`);
    if (!existsSync(script)) continue;
    for (const [, byUrl, byFolder] of readFileSync(script, 'utf8').matchAll(READ)) {
      const read = join(dirname(path), byUrl ?? byFolder);
      if (!existsSync(join(root, read)) || /\.[jt]s$/.test(read)) continue;
      mkdirSync(dirname(join(dist, read)), { recursive: true });
      cpSync(join(root, read), join(dist, read), { recursive: true });
    }
  }
  // Nearer to the compiled files than the package's own: it names the compiled form of each import
  // that differs between Node and browsers.
  const own = Object.entries(imports).map(([name, choice]) => [
    name,
    Object.fromEntries(
      Object.entries(choice).map(([condition, target]) => [
        condition,
        `./${join('programs/client', target).replace(/\.ts$/, '.js')}`,
      ]),
    ),
  ]);
  const nearest = { type: 'module', imports: Object.fromEntries(own) };
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(nearest, undefined, 2)}\n`);
}
