import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { codeForCommonJs, ESM_ONLY, typesForCommonJs } from './commonJs.mjs';
import { PACKAGES, REPOSITORY } from './packages.ts';
import { root } from './pinnedNode.mjs';

const SPECIFIER = /((?:from|import)\s*\(?\s*["'])([^"']+)(["'])/g;
/** Files that code reads by a URL of its own. */
const READ =
  /new URL\(\s*['"`](\.[^'"`]+)['"`]\s*,\s*import\.meta\.url|import\.meta\.dirname, '(\.[^']+)'/g;

const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const client = readJson('programs/client/package.json');
/** Imports that differ between Node and browsers: for each condition, the compiled file's path. */
const choices = mapValues(client.imports, (conditions) =>
  mapValues(conditions, (target) => join('programs/client', target).replace(/\.ts$/, '')),
);

/**
 * Writes all that one package holds. Its development dependencies become part of it.
 *
 * @param {string} target an empty folder
 * @param {object} options
 * @param {keyof typeof PACKAGES} options.key
 * @param {string} options.compiled the folder of the compiled sources
 * @param {typeof import('./vendor.mjs').bundle} options.bundle
 */
export async function assemblePackage(target, { key, compiled, bundle }) {
  const { folder, entries } = PACKAGES[key];
  const description = readJson(join(folder, 'package.json'));
  const runsInBrowsers = description.imports !== undefined;
  const vendored = Object.keys(description.devDependencies ?? {});
  const targets = Object.fromEntries(vendored.map((name) => [name, `vendor/${name}/index`]));
  if (!runsInBrowsers)
    Object.assign(
      targets,
      mapValues(choices, (choice) => choice.default),
    );
  // No code imports a program's types.
  const isProgram = description.bin !== undefined;
  for (const path of reachedFrom(entries, { compiled, runsInBrowsers })) {
    // An import of anything but code has its own ending.
    const code = isProgram ? [`${path}.js`] : [`${path}.js`, `${path}.d.ts`];
    const files = path.endsWith('.json') ? [path] : code;
    for (const file of files.filter((one) => existsSync(join(compiled, one)))) {
      const text = readFileSync(join(compiled, file), 'utf8');
      write(join(target, 'dist', file), redirect(text, file, targets));
      for (const read of filesReadBy(text, file)) {
        cpSync(join(root, read), join(target, 'dist', read), { recursive: true });
      }
    }
  }
  const external = Object.keys(description.dependencies ?? {});
  const contained = vendored.map((name) => [name, `${targets[name]}.js`]);
  if (!isProgram) {
    const inside = ESM_ONLY.filter((name) => external.includes(name));
    for (const name of inside) contained.push([name, `vendor/${name}/index.cjs`]);
    const replaced = {
      ...targets,
      ...mapValues(choices, (choice) => choice.default),
      ...Object.fromEntries(inside.map((name) => [name, `vendor/${name}/index`])),
    };
    await writeTwins(join(target, 'dist'), { entries, compiled, replaced });
  }
  const licences = await Promise.all(
    contained.map(([name, file]) => bundle(name, { file: join(target, 'dist', file), external })),
  );
  if (contained.length > 0) {
    write(join(target, 'dist/vendor/LICENSES.txt'), `${licences.flat().join('\n\n---\n\n')}\n`);
  }
  cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
  cpSync(join(root, folder, 'README.md'), join(target, 'README.md'));
  for (const path of Object.values(description.bin ?? {})) {
    cpSync(join(root, folder, path), join(target, path));
  }
  const published = `${JSON.stringify(publishedDescription(description, folder), undefined, 2)}\n`;
  write(join(target, 'package.json'), published);
}

/** The twins for CommonJS, which is Node's alone. @param options.replaced as `targets` of `redirect` */
async function writeTwins(target, { entries, compiled, replaced }) {
  for (const path of reachedFrom(entries, { compiled, runsInBrowsers: false })) {
    const read = (file) =>
      existsSync(join(compiled, file)) &&
      redirect(readFileSync(join(compiled, file), 'utf8'), file, replaced);
    const code = read(`${path}.js`);
    if (code) write(join(target, `${path}.cjs`), await codeForCommonJs(code));
    const types = read(`${path}.d.ts`);
    if (types) write(join(target, `${path}.d.cts`), typesForCommonJs(types));
  }
}

/** Compiled files that these lead to, as paths without their endings. */
function reachedFrom(entries, { compiled, runsInBrowsers }) {
  const reached = new Set();
  const visit = (path) => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const file of [`${path}.js`, `${path}.d.ts`].map((name) => join(compiled, name))) {
      if (!existsSync(file)) continue;
      for (const [, , name] of readFileSync(file, 'utf8').matchAll(SPECIFIER)) {
        for (const found of targetsOf(name, path, runsInBrowsers)) visit(found);
      }
    }
  };
  for (const entry of entries) visit(entry);
  return reached;
}

function targetsOf(name, importer, runsInBrowsers) {
  const choice = choices[name];
  if (choice) return runsInBrowsers ? Object.values(choice) : [choice.default];
  if (!name.startsWith('.')) return [];
  return [join(dirname(importer), name).replace(/(\.d)?\.[jt]s$/, '')];
}

/** Leads some imports of the code to files of the package. @param targets paths without endings */
function redirect(text, file, targets) {
  return text.replace(SPECIFIER, (whole, before, name, after) => {
    if (!targets[name]) return whole;
    const path = relative(dirname(file), targets[name]);
    return `${before}${path.startsWith('.') ? path : `./${path}`}.js${after}`;
  });
}

/** Files besides code that a compiled file reads, as paths of the checkout. */
function filesReadBy(text, file) {
  return [...text.matchAll(READ)]
    .map(([, byUrl, byFolder]) => join(dirname(file), byUrl ?? byFolder))
    .filter((read) => existsSync(join(root, read)) && !/\.[jt]s$/.test(read));
}

/** The package.json of the checkout, whose targets are sources, with the compiled files as targets. */
function publishedDescription({ private: _, devDependencies: __, ...description }, folder) {
  const isProgram = description.bin !== undefined;
  const compiledPath = (target) => `./${join('dist', folder, target)}`;
  const asExport = (target) => {
    if (target === './package.json') return target;
    if (!target.endsWith('.ts'))
      return target.startsWith('./dist/') ? target : compiledPath(target);
    const path = compiledPath(target).replace(/\.ts$/, '');
    const module = { types: `${path}.d.ts`, default: `${path}.js` };
    if (isProgram) return module;
    return { import: module, require: { types: `${path}.d.cts`, default: `${path}.cjs` } };
  };
  const exports = mapValues(description.exports, asExport);
  return {
    ...description,
    repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: folder },
    homepage: `${REPOSITORY}#readme`,
    bugs: `${REPOSITORY}/issues`,
    files: ['dist', ...Object.values(description.bin ?? {})],
    ...(!isProgram && oldResolution(exports)),
    exports,
    ...(description.imports && {
      imports: mapValues(choices, (conditions) =>
        mapValues(conditions, (path) => `./dist/${path}.js`),
      ),
    }),
  };
}

/** For tools that ignore `exports`: TypeScript with `moduleResolution` node10, its former default. */
function oldResolution({ '.': root, './package.json': _, ...others }) {
  const typed = Object.entries(others)
    .map(([path, target]) => [path.replace('./', ''), target.require?.types ?? target])
    .filter(([, target]) => /\.(d\.cts|json)$/.test(target));
  return {
    main: root.require.default,
    types: root.require.types,
    ...(typed.length > 0 && {
      typesVersions: { '*': Object.fromEntries(typed.map(([path, target]) => [path, [target]])) },
    }),
  };
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
