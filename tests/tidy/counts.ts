import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import rootPackage from '../../package.json' with { type: 'json' };
import { readCoverage } from '../specification/coverage.ts';
import { functionsOf } from './functions.ts';
import { proseOf } from './prose.ts';
import {
  hasProse,
  importGraph,
  isProduct,
  listFiles,
  mutualFolders,
  ROOT,
  readSource,
} from './sourceTree.ts';
import { lowerLimits, weigh } from './weight.ts';
import { bannedWord, SUBJECT_MAX, tooLong } from './wording.ts';

// `npm run counts` prints the size, the shape and the words of the product, and whether every rule of
// the interface has a test. Exit code 1 says that a rule has none. `-- --rules` prints the rules alone,
// `-- --lower` writes down which folders have become lighter.

const FUNCTION_LINES_MAX = 60;
/** Of each kind of change one that was made, by its name. */
const CHANGES: readonly (readonly [what: string, name: RegExp, where?: RegExp])[] = [
  ['webhook kind credit.topup', /credit\.topup/],
  // It is a field of the program, too.
  ['mirrored column rent_payer', /\brent_payer\b/, /^(?!programs\/)/],
  ['instruction slash_burn', /slash_?burn/i],
  ['passed field min_p', /\bmin_p\b/],
];

const { values } = parseArgs({
  options: {
    rules: { type: 'boolean', default: false },
    lower: { type: 'boolean', default: false },
  },
});
if (values.lower) lowerLimits();
if (!values.rules) {
  for (const [folder, lines] of Object.entries(weigh())) print(`lines of ${folder}`, lines);
  countProduct();
  countNames();
  countWords();
}
countRules();

function print(label: string, value: number | string): void {
  process.stdout.write(`${label.padEnd(60)} ${value}\n`);
}

function countProduct(): void {
  const files = listFiles().filter(isProduct);
  const lines = files.map((path) => readSource(path).split('\n').length - 1);
  const sorted = lines.toSorted((one, other) => one - other);
  const typescript = files.filter((path) => /\.tsx?$/.test(path));
  const codeLines = files.flatMap((path) =>
    readSource(path)
      .split('\n')
      .filter((line) => line.trim() !== '' && !/^\s*(\/\/|\/?\*)/.test(line)),
  );
  const long = typescript.flatMap((path) =>
    functionsOf(path, readSource(path)).filter((each) => each.lines > FUNCTION_LINES_MAX),
  );
  const folders = new Map<string, number>();
  for (const path of files) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);
  const large = [...folders]
    .filter(([, size]) => size > 20)
    .map(([path, size]) => `${path} ${size}`);
  const graph = importGraph(typescript);
  const sum = (numbers: readonly number[]): number =>
    numbers.reduce((one, other) => one + other, 0);

  const linesOf = (paths: RegExp): number =>
    sum(lines.filter((_, index) => paths.test(files[index] ?? '')));

  print('product lines of TypeScript, without localnet', linesOf(/^(?!localnet\/).*\.ts$/));
  print('product lines of the pages (tsx)', linesOf(/\.tsx$/));
  print(`functions of more than ${FUNCTION_LINES_MAX} lines`, long.length);
  print('npm scripts', Object.keys(rootPackage.scripts).length);
  print('product files, also of Rust', files.length);
  print('lines', sum(lines));
  print('lines of code, without blanks and comments', codeLines.length);
  print('median lines of a file', sorted[Math.floor(sorted.length / 2)] ?? 0);
  print('files of 30 lines or fewer', lines.filter((length) => length <= 30).length);
  print('files of more than 400 lines', lines.filter((length) => length > 400).length);
  print('folders', folders.size);
  print('folders of more than 20 files', large.join(', ') || 'none');
  print('pairs of folders that import each other', mutualFolders(graph).join(', ') || 'none');
}

/** The files that a change touches: those that are written by hand, with its documents. */
function countNames(): void {
  const files = listFiles().filter(
    (path) =>
      (/\.sql$/.test(path) ||
        /^(docs\/(?!instructions)[^/]+|[A-Z]+)\.md$/.test(path) ||
        isProduct(path)) &&
      path !== 'CHANGELOG.md',
  );
  for (const [what, name, where = /^/] of CHANGES) {
    const naming = files.filter((path) => where.test(path) && name.test(readSource(path)));
    print(`files that name the ${what}, without tests`, `${naming.length}: ${naming.join(', ')}`);
  }
}

function countWords(): void {
  const prose = listFiles()
    .filter(hasProse)
    .flatMap((path) => proseOf(path, readSource(path)));
  const banned = prose.filter((each) => bannedWord(each) !== undefined).length;
  const long = prose.filter(({ kind }) => kind === 'comment').flatMap(tooLong).length;
  print('banned words in comments, strings and names', banned);
  print('sentences of more than 25 words in comments', long);
  const subjects = execFileSync('git', ['log', '--format=%s'], { cwd: ROOT, encoding: 'utf8' })
    .trimEnd()
    .split('\n');
  const longSubjects = subjects.filter((subject) => subject.length > SUBJECT_MAX).length;
  print(
    `commit subjects of more than ${SUBJECT_MAX} characters`,
    `${longSubjects} of ${subjects.length}`,
  );
}

function countRules(): void {
  const { rules, shown, open, faults } = readCoverage();
  print('rules of the interface that tests show', `${shown} of ${rules}`);
  for (const line of open) print('open rule', line);
  for (const line of faults) print('FAULT of a rule', line);
  if (faults.length > 0) process.exitCode = 1;
}
