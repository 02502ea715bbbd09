import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checkout, codeBlocks, readDocuments } from './documents.ts';

/** What commands read and write in the folder where they run: keys, answers, backups, programs. */
const FILE = /(?<![\w./<-])[\w-]+\.(?:json|txt|key|env|backup|so|pem|sql|db|csv|tgz)\b/g;
const FOLDER =
  /(?:(?:--data-dir|--out|--dir|mkdir(?: -m \d+)?(?: -p)?) |SVC_DATA_DIR=)([\w.][\w./-]*)/g;

/** The names in a block of commands, below the folder that the block enters. */
function namesIn(block: string): string[] {
  let folder = '';
  return block.split('\n').flatMap((line) => {
    folder = /^(?:\$ )?cd ([\w/]+)$/.exec(line)?.[1] ?? folder;
    const files = [...line.matchAll(FILE)].map(([name]) => name);
    const folders = [...line.matchAll(FOLDER)].map(([, name = '']) => join(name, 'content.json'));
    return [...files, ...folders].map((name) => join(folder, name));
  });
}

/** Those that a reader writes: the project has no file of that name. */
const written = [
  ...new Set(
    readDocuments()
      .flatMap((document) => codeBlocks(document, ['', 'sh', 'console', 'bash']))
      .flatMap(namesIn),
  ),
  // `npm pack` names its file itself.
  'svc-inference-client-0.1.0.tgz',
].filter((path) => !existsSync(join(checkout, path)));

/** A folder with the project's rules, and with everything that the pages have somebody write. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'written-'));
  for (const path of ['.gitignore', 'biome.json']) {
    copyFileSync(join(checkout, path), join(folder, path));
  }
  for (const path of written) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), '{"not"  :"formatted"}');
  }
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What git would take up, by the folder's own rules or by others. */
const untracked = (...options: string[]) =>
  execFileSync('git', ['ls-files', '--others', ...options], { cwd: folder, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && path !== '.gitignore' && path !== 'biome.json');

describe('the files that the pages have a reader write', () => {
  it('are found on the pages', () => {
    expect(written.length).toBeGreaterThan(20);
    expect(written).toEqual(
      expect.arrayContaining(['answer.json', 'headers.txt', 'wallet.json', 'service.backup']),
    );
    expect(untracked()).toHaveLength(written.length);
  });

  it('are ignored by git, which takes up every file of the project', () => {
    expect(untracked('--exclude-standard')).toEqual([]);
    const ignored = execFileSync('git', ['ls-files', '-ci', '--exclude-standard'], {
      cwd: checkout,
      encoding: 'utf8',
    });
    expect(ignored).toBe('');
  });

  it('are no part of the context of an image', () => {
    // A pattern of .dockerignore begins at the root, as one of git does behind a slash.
    const patterns = readFileSync(join(checkout, '.dockerignore'), 'utf8')
      .split('\n')
      .map((line) => line.replace(/^(!?)(?=[^#!])/, '$1/'));
    const rules = join(folder, '.git/docker-rules');
    writeFileSync(rules, patterns.join('\n'));

    expect(untracked(`--exclude-from=${rules}`)).toEqual([]);
    const { stdout } = spawnSync(
      'git',
      ['ls-files', '-ci', `--exclude-from=${rules}`, '--', ':(glob)*'],
      { cwd: checkout, encoding: 'utf8' },
    );
    expect(stdout).toBe('');
  });

  it('are left alone by the formatter, which checks what the project has', () => {
    const biome = join(checkout, 'node_modules/.bin/biome');
    const { stderr } = spawnSync(biome, ['check', '.'], { cwd: folder, encoding: 'utf8' });
    expect(stderr).toMatch(/^Checked 1 file /m);
    writeFileSync(join(folder, 'package.json'), '{"not"  :"formatted"}');
    const { stderr: beside } = spawnSync(biome, ['check', '.'], { cwd: folder, encoding: 'utf8' });
    expect(beside).toMatch(/^Checked 2 files /m);
  });
});
