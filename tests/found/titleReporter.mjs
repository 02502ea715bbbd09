import { globSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { titlesOf } from '../tidy/titles.ts';

/** Fails a run whose `-t` matches no title: jest skips every test then, and succeeds. */
export default class TitleReporter {
  #pattern;
  #root;
  #error;

  constructor({ testNamePattern, rootDir }) {
    this.#pattern = testNamePattern;
    this.#root = rootDir;
  }

  onRunComplete(_contexts, { numTotalTests, numPendingTests, testResults }) {
    if (!this.#pattern || numTotalTests === 0 || numPendingTests < numTotalTests) return;
    const paths = testResults.map(({ testFilePath }) => relative(this.#root, testFilePath));
    const searched = paths.length === 1 ? paths[0] : `the ${paths.length} test files`;
    const message = `No title in ${searched} matches ${this.#pattern}. ${this.#nearest(paths)}`;
    this.#error = new Error(message);
    process.stderr.write(`${message}\n`);
  }

  getLastError() {
    return this.#error;
  }

  /** The folder of another file with such a title, the nearest first. */
  #nearest(searched) {
    const pattern = new RegExp(this.#pattern, 'i');
    const folders = globSync('tests/**/*.test.ts', { cwd: this.#root })
      .filter((path) => !searched.includes(path))
      .filter((path) =>
        titlesOf(readFileSync(`${this.#root}/${path}`, 'utf8')).some(({ text }) =>
          pattern.test(text),
        ),
      )
      .map(dirname);
    const near = folders.find((folder) => searched.some((path) => path.startsWith(folder)));
    const folder = near ?? folders[0];
    return folder ? `One in ${folder} does.` : 'None of the other files has one.';
  }
}
