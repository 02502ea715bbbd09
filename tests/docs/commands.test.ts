import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { buildDocument } from '../../api/docs/document.ts';
import { VERBS } from '../../cli/verbs.ts';
import { checkout, codeBlocks, readDocuments } from './documents.ts';

const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const documents = readDocuments();

/** The options of every command of the CLI, by its words; a group of commands has none. */
const readCommands = async (): Promise<Map<string, string[]>> => {
  const options = new Map<string, string[]>();
  const note = (command: Command, words: string): void => {
    options.set(words, [...command.options.map(({ long }) => String(long)), '--help']);
    for (const below of command.commands) note(below, `${words} ${below.name()}`);
  };
  for (const [verb, load] of VERBS) note(await load(), verb);
  return options;
};

const commands = await readCommands();

/** Code, in blocks and in lines. */
const code = documents.flatMap((document) => [
  ...codeBlocks(document, ['', 'sh', 'console', 'bash']),
  ...[...document.text.matchAll(/`([^`\n]+)`/g)].map(([, line = '']) => line),
]);

/** Every command in it of one kind. */
const commandsOf = (pattern: RegExp): string[] => [
  ...new Set(code.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name))),
];

describe('the commands in the documents', () => {
  it('are scripts of package.json when they start with npm run', () => {
    const named = commandsOf(/\bnpm run (?:--silent )?([\w:-]+)/g);

    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('include every script of package.json, in developing.md', () => {
    const { text = '' } = documents.find(({ path }) => path === 'docs/developing.md') ?? {};
    const isNamed = (name: string) => new RegExp(`\\bnpm (run )?${name}(?![\\w:-])`).test(text);
    expect(Object.keys(scripts).filter((name) => !isNamed(name))).toEqual([]);
  });

  it.each([
    ['bench', 'bench/main.ts'],
    ['test:long', 'tests/long.mjs'],
  ])('name what %s runs, when it has several names', (script, file) => {
    const source = readFileSync(join(checkout, file), 'utf8');
    const named = commandsOf(new RegExp(`\\bnpm run (?:--silent )?${script} -- ([\\w-]+)`, 'g'));

    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !new RegExp(`^  '?${name}'?:`, 'm').test(source))).toEqual([]);
  });

  it('run test files or folders that exist when they start with npm test', () => {
    const named = commandsOf(/\bnpm test -- (tests\/[\w./-]+)/g);

    expect(named.length).toBeGreaterThan(1);
    // A path may leave out how its file ends.
    const exists = (path: string) =>
      ['', '.ts', '.test.ts'].some((end) => existsSync(join(checkout, `${path}${end}`)));
    expect(named.filter((path) => !exists(path))).toEqual([]);
  });

  it('name the versions that a report of a fault asks for', () => {
    const report = documents.find(({ path }) => path === '.github/ISSUE_TEMPLATE/bug.md');
    const [, asked = ''] = /^\*\*Versions\*\*(.*)$/m.exec(report?.text ?? '') ?? [];
    const versions = [...asked.matchAll(/`([^`]+)`/g)].map(([, command = '']) => {
      const [program = '', ...words] = command.split(' ');
      return execFileSync(program, words, { cwd: checkout, encoding: 'utf8' });
    });

    expect(versions).toHaveLength(4);
    expect(versions.filter((version) => !/^\S.*\n$/.test(version))).toEqual([]);
  });

  /** What follows `svc` in code, up to where the shell goes on to something else. */
  const calls = code
    .flatMap((text) => [
      ...text.replaceAll('\\\n', ' ').matchAll(/(?:\bnpx (?:--no )?|^)svc ([a-z].*)/gm),
    ])
    .map(([, call = '']) => call.replaceAll('\\|', '|').split(/ [|&;#]|[)]/)[0] ?? '')
    .flatMap(readCall);

  /** One for each of the commands in one line, as `keys create|revoke`. */
  function readCall(call: string): { words: string; options: string[] }[] {
    const [verb = '', second = ''] = call.split(' ');
    const options = [...call.matchAll(/(?<= |\[)--[a-z-]+/g)].map(([option]) => option);
    const isGroup = [...commands.keys()].some((words) => words.startsWith(`${verb} `));
    if (!isGroup || second === '') return [{ words: verb, options }];
    return second.split('|').map((below) => ({ words: `${verb} ${below}`, options }));
  }

  it('are commands and options of the CLI when they start with svc', () => {
    expect(calls.length).toBeGreaterThan(50);
    const unknown = calls.flatMap(({ words, options }) => {
      const known = commands.get(words);
      if (!known) return [words];
      return options.filter((each) => !known.includes(each)).map((each) => `${words} ${each}`);
    });
    expect(unknown).toEqual([]);
  });

  it('include every command of the CLI', () => {
    const documented = new Set(calls.flatMap(({ words }) => [words, words.split(' ')[0]]));
    expect([...commands.keys()].filter((words) => !documented.has(words))).toEqual([]);
  });

  it('are endpoints of the API when they call it by curl', () => {
    const paths = Object.keys(buildDocument('https://api.example.com').paths);
    const endpoints = paths.map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`));
    const called = commandsOf(/curl .*\$(?:BASE_)?URL(\/v1\/[\w/$.-]+)/g);

    expect(called.length).toBeGreaterThan(2);
    const unknown = called.filter((path) => !endpoints.some((endpoint) => endpoint.test(path)));
    expect(unknown).toEqual([]);
  });

  it('are files of the project or of the document, when node starts them', () => {
    const named = commandsOf(/\bnode ([\w/-]+\.(?:ts|mjs))/g);
    const folders = new Set(['', ...documents.map(({ path }) => dirname(path))]);
    const saved = documents.flatMap(({ text }) =>
      [...text.matchAll(/Save this as `([^`]+)`/g)].map(([, name]) => name),
    );
    const exists = (path: string): boolean =>
      saved.includes(path) ||
      [...folders].some((folder) => existsSync(join(checkout, folder, path)));

    expect(named.length).toBeGreaterThan(1);
    expect(named.filter((path) => !exists(path))).toEqual([]);
  });
});

describe('a TypeScript file of the project that a document starts', () => {
  it('runs on the Node that npm install brings, or on that of a container', () => {
    const starts = documents.flatMap(
      ({ text }) => text.match(/^.*?\bnode \w+\/[\w/]+\.ts.*$/gm) ?? [],
    );

    expect(starts.length).toBeGreaterThan(5);
    const others = starts.filter(
      (line) => !/node_modules\/\.bin\/node [\w/]+\.ts|docker compose exec/.test(line),
    );
    expect(others).toEqual([]);
  });
});

describe('the settings in the documents', () => {
  it('are described in .env.example', () => {
    const described = readFileSync(join(checkout, '.env.example'), 'utf8');
    const named = documents.flatMap(({ text }) =>
      [...text.matchAll(/\b(?:SVC|WORKER|INDEXER|SOLANA|HELIUS)_[A-Z_]+\b/g)].map(([name]) => name),
    );
    // Any setting may come from a file.
    const settings = named.map((name) => name.replace(/_FILE$/, ''));

    expect([...new Set(settings)].filter((name) => !described.includes(name))).toEqual([]);
  });
});
