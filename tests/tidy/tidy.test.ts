import { dirname } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { SECOND_LIST } from '../lists.mjs';
import { messagesOfChange } from './commits.ts';
import { proseOf } from './prose.ts';
import { countWords, longSentences, WORDS_MAX } from './sentences.ts';
import {
  hasProse,
  importGraph,
  importsOf,
  isProduct,
  listFiles,
  mutualFolders,
  readSource,
} from './sourceTree.ts';
import { titlesOf } from './titles.ts';
import { bannedWord, faultsOfMessage, tooLong } from './wording.ts';

const files = listFiles();
const typescript = files.filter((path) => /\.tsx?$/.test(path));
const graph = importGraph(typescript);
/** Those that people write: the pages of the instructions are made, and list many names. */
const documents = files.filter(
  (path) => path.endsWith('.md') && !path.startsWith('docs/instructions/'),
);

/** What a folder may not know. The list says where a part ends; everything else is free. */
const BOUNDARIES: readonly [folder: RegExp, mayNotImport: RegExp][] = [
  [/^common\//, /^(api|indexer|webhookOperations|worker|localnet|stack|cli|testing|tests|bench)\//],
  [/^programs\//, /^(api|indexer|worker|localnet|stack|cli|bench)\//],
  // The package for receivers has no dependency, and so does not reach the kinds' source.
  [/^webhooks\/(?!kinds\.ts)/, /^(?!webhooks\/)|\/kinds\.ts$/],
  [/^webhooks\/kinds\.ts$/, /^(?!(webhooks|common|programs\/client\/generated)\/)/],
  [
    /^webhookOperations\//,
    /^(api|indexer|worker|localnet|stack|cli|programs|testing|tests|bench)\//,
  ],
  [/^worker\//, /^(api|indexer|localnet|stack|cli|testing|tests|bench)\//],
  [/^localnet\//, /^(api|indexer|worker|stack|cli|testing|tests|bench)\//],
  [/^indexer\//, /^(api|worker|localnet|stack|cli|testing|tests|bench)\//],
  [/^api\//, /^(indexer|worker|localnet|stack|cli|testing|tests|bench)\//],
  [/^testing\/kit\//, /^(api|indexer|worker|stack|cli|tests|bench)\/|^testing\/(?!kit)/],
  [/^testing\//, /^(tests|bench)\//],
  [/^bench\//, /^tests\//],
  [/^console\//, /^(api\/(?!contracts\/)|indexer|worker|localnet|stack|cli|testing|tests|bench)\//],
];

describe('the source tree', () => {
  it('has no two folders of a part that import each other, at any depth', () => {
    const product = importGraph(typescript.filter(isProduct));
    expect(mutualFolders(product)).toEqual([]);
  });

  it('finds folders that import each other only through folders below them', () => {
    const graph = new Map([
      ['api/http/routes/jobs.ts', ['api/jobs/completion.ts']],
      ['api/jobs/sql/rows.ts', ['api/http/response/send.ts', 'console/page.ts']],
      ['console/data/jobs.ts', ['api/contracts/job.ts']],
    ]);
    expect(mutualFolders(graph)).toEqual(['api/http <-> api/jobs']);
  });

  it('imports nothing across the boundaries of its parts', () => {
    const crossings = [...graph].flatMap(([path, targets]) =>
      targets
        .filter((target) =>
          BOUNDARIES.some(([folder, forbidden]) => folder.test(path) && forbidden.test(target)),
        )
        .map((target) => `${path} imports ${target}`),
    );
    expect(crossings).toEqual([]);
  });

  it('reads the time of a page from one module, which has it of the service', () => {
    const clocks = typescript.filter(
      (path) =>
        /^console\//.test(path) &&
        /\bDate\.now\b|\bDate\(\)|new Date[;,)]|timeOrigin|Temporal/.test(readSource(path)),
    );
    expect(clocks).toEqual(['console/data/serviceTime.ts']);
  });

  it('builds the pages again when any file that they import has changed', () => {
    const [, list = ''] = /SOURCES = \[(.*?)\n\];/s.exec(readSource('bin/buildConsole.mjs')) ?? [];
    const sources = [...list.matchAll(/'([^']+)'/g)].map(([, path = '']) => path);
    const reached = new Set(typescript.filter((path) => /^console\/(?!build\/)/.test(path)));
    for (const path of reached) {
      for (const each of importsOf(path)) {
        if (!each.isType && each.names?.length !== 0) reached.add(each.path);
      }
    }
    const isSource = (path: string) =>
      sources.some((source) => path === source || path.startsWith(`${source}/`));
    expect(sources.length).toBeGreaterThan(2);
    expect([...reached].filter((path) => !isSource(path))).toEqual([]);
  });

  it('has at most 20 files in a folder of the product, the instructions aside', () => {
    const sizes = new Map<string, number>();
    for (const path of files.filter(isProduct)) {
      sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1);
    }
    const large = [...sizes].filter(([folder, size]) => size > 20 && !/instructions$/.test(folder));
    expect(large).toEqual([]);
  });
});

describe('the documents', () => {
  it.each(documents)('%s has no sentence of more than 25 words', (path) => {
    expect(longSentences(readSource(path))).toEqual([]);
  });

  const BANNED =
    /\b(simply|obviously|just works|blazing|seamless(ly)?|leverag(e|es|ing)|utili[sz]e)\b/i;
  it.each(documents)('%s contains no promotional words', (path) => {
    expect(readSource(path).match(BANNED)).toBeNull();
  });

  it.each(documents)('%s uses plain words', (path) => {
    expect(bannedWord({ kind: 'string', line: 1, text: readSource(path) })).toBeUndefined();
  });
});

/** The program's sources, whose hashes are pinned with what is built and made of them. */
const PINNED = /\.rs$|^programs\/client\/generated\//;
/** Assembled, so that this file itself does not have it. */
const PINNED_WORD = ['what', 'ever'].join('');

describe('the words of sources', () => {
  const sources = files.filter(hasProse);
  const folders = [...new Set(sources.map((path) => path.split('/')[0] ?? path))];
  const prose = sources.flatMap((path) =>
    proseOf(path, readSource(path)).map((each) => ({ path, ...each })),
  );
  const proseIn = (folder: string) => prose.filter(({ path }) => path.split('/')[0] === folder);

  it.each(folders)('of %s are plain, in comments, strings and names', (folder) => {
    const found = proseIn(folder).flatMap((each) => {
      const word = bannedWord(each);
      const isPinned = word === PINNED_WORD && PINNED.test(each.path);
      return word === undefined || isPinned ? [] : `${each.path}:${each.line} ${word}`;
    });
    expect(found).toEqual([]);
  });

  it.each(folders)('of %s make sentences of at most 25 words', (folder) => {
    const found = proseIn(folder).flatMap((each) =>
      tooLong(each).map((sentence) => `${each.path}:${each.line} ${sentence}`),
    );
    expect(found).toEqual([]);
  });
});

describe('the commits of a change', () => {
  it('have plain messages, each with one change in a subject of 72 characters', () => {
    expect(messagesOfChange().flatMap(faultsOfMessage)).toEqual([]);
  });
});

it('the second list of tests names files that exist', () => {
  const tests = files.filter((path) => path.endsWith('.test.ts'));
  const lost = Object.values(SECOND_LIST)
    .flat()
    .filter((beginning) => !tests.some((path) => path.startsWith(`tests/${beginning}`)));
  expect(lost).toEqual([]);
});

describe('the titles of tests', () => {
  const titles = files
    .filter((path) => path.endsWith('.test.ts'))
    .flatMap((path) => titlesOf(readSource(path)).map((title) => ({ path, ...title })));

  it('have at most 25 words, with those of their groups', () => {
    expect(titles.filter(({ text }) => countWords(text) > WORDS_MAX)).toEqual([]);
  });

  it('have at most 72 characters of their own', () => {
    expect(titles.filter(({ own }) => own.length > 72)).toEqual([]);
  });

  const RIDDLING = /\b(telling|lookout|standing|hears?|heard|says so)\b/i;
  it('use the terms of the field', () => {
    expect(titles.filter(({ text }) => RIDDLING.test(text))).toEqual([]);
  });
});
