import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import rootPackage from '../../package.json' with { type: 'json' };
import { readCoverage } from '../specification/coverage.ts';
import { functionsOf } from './functions.ts';
import { importGraph, isProduct, listFiles, mutualFolders, readSource } from './sourceTree.ts';
import { lowerLimits, weigh } from './weight.ts';

// `npm run counts` prints the size and the shape of the product, and whether every rule of
// the interface has a test. Exit code 1 says that a rule has none. `-- --rules` prints the rules alone,
// `-- --lower` writes down which folders have become lighter.

const FUNCTION_LINES_MAX = 60;
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

function countRules(): void {
  const { rules, shown, open, faults } = readCoverage();
  print('rules of the interface that tests show', `${shown} of ${rules}`);
  for (const line of open) print('open rule', line);
  for (const line of faults) print('FAULT of a rule', line);
  if (faults.length > 0) process.exitCode = 1;
}
