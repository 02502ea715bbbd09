import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { checkout, codeBlocks, readDocuments } from './documents.ts';

const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const documents = readDocuments();

/** The verbs that a command of the CLI has, read from its help. */
const verbsOf = (...command: string[]): string[] => {
  const main = join(checkout, 'cli/main.ts');
  const help = execFileSync(process.execPath, [main, ...command, '--help'], { encoding: 'utf8' });
  const [, commands = ''] = help.split('Commands:');
  return [...commands.matchAll(/^ {2}([a-z]+)/gm)].map(([, verb = '']) => verb);
};

/** Every command in code, in blocks and in lines, of one kind. */
const commandsOf = (pattern: RegExp): string[] => {
  const code = documents.flatMap((document) => [
    ...codeBlocks(document, ['', 'sh', 'console', 'bash']),
    ...[...document.text.matchAll(/`([^`\n]+)`/g)].map(([, line = '']) => line),
  ]);
  return [
    ...new Set(code.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name))),
  ];
};

describe('the commands that the documents name', () => {
  it('are scripts of package.json, where they begin with npm run', () => {
    const named = commandsOf(/\bnpm run (?:--silent )?([\w:-]+)/g);

    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('are verbs of the CLI, where they begin with npx svc', () => {
    const named = commandsOf(/\bnpx svc ([a-z]+)/g);
    const verbs = verbsOf();

    expect(verbs).toContain('keys');
    expect(named.filter((verb) => !verbs.includes(verb))).toEqual([]);
  });

  it('are verbs for keys, where they begin with npx svc keys', () => {
    const named = commandsOf(/\bnpx svc keys ([a-z|\\]+)/g).flatMap((verbs) =>
      verbs.split(/[\\|]+/),
    );
    const verbs = verbsOf('keys');

    expect(named).toContain('create');
    expect(named.filter((verb) => !verbs.includes(verb))).toEqual([]);
  });

  it('are files of the project, where they begin with node', () => {
    const named = commandsOf(/\bnode ([\w/]+\.(?:ts|mjs))/g);

    expect(named.length).toBeGreaterThan(1);
    expect(named.filter((path) => !existsSync(join(checkout, path)))).toEqual([]);
  });
});

describe('the settings that the documents name', () => {
  it('are described in .env.example', () => {
    const described = readFileSync(join(checkout, '.env.example'), 'utf8');
    const named = documents.flatMap(({ text }) =>
      [...text.matchAll(/\b(?:SVC|WORKER|INDEXER|SOLANA|HELIUS)_[A-Z_]+\b/g)].map(([name]) => name),
    );

    expect([...new Set(named)].filter((name) => !described.includes(name))).toEqual([]);
  });
});
