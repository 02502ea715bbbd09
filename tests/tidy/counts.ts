import { dirname } from 'node:path';
import {
  importCircles,
  importGraph,
  isProduct,
  listFiles,
  mutualFolders,
  readSource,
} from './sourceTree.ts';

// `npm run counts`: the size and shape of the product, for whoever keeps it small.

const files = listFiles().filter(isProduct);
const lines = files.map((path) => readSource(path).split('\n').length - 1);
const sorted = lines.toSorted((one, other) => one - other);
const folders = new Map<string, number>();
for (const path of files) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);
const graph = importGraph(files.filter((path) => path.endsWith('.ts')));
const codeLines = files.flatMap((path) =>
  readSource(path)
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s*(\/\/|\/?\*)/.test(line)),
);

const count = (label: string, value: number | string): void =>
  void process.stdout.write(`${label.padEnd(44)} ${value}\n`);
count('product files', files.length);
count(
  'lines',
  lines.reduce((sum, length) => sum + length, 0),
);
count('lines of code, without blanks and comments', codeLines.length);
count('median lines of a file', sorted[Math.floor(sorted.length / 2)] ?? 0);
count('files of 30 lines or fewer', lines.filter((length) => length <= 30).length);
count('files of more than 400 lines', lines.filter((length) => length > 400).length);
count('folders', folders.size);
const large = [...folders].filter(([, size]) => size > 20).map(([path, size]) => `${path} ${size}`);
count('folders of more than 20 files', large.join(', ') || 'none');
count('pairs of folders that import each other', mutualFolders(graph).join(', ') || 'none');
count('circles of imports', importCircles(graph).length);
