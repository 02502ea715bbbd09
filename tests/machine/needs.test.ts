import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { needs } from '../../testing/machine/needs.ts';
import { BASH } from '../../testing/machine/shell.ts';
import { NEEDED, TOOLS } from '../../testing/machine/tools.ts';
import { listFiles, readSource } from '../tidy/sourceTree.ts';
import { testsByTool, toolRows } from './toolTable.ts';

const page = readSource('docs/developing.md');
const tests = listFiles().filter((path) => /^test(s|ing)\/.*\.m?ts$/.test(path));
/** Whether a shell finds a program. */
const finds = (name: string): boolean =>
  spawnSync('bash', [...BASH.slice(1), '-c', `type -P '${name}'`]).status === 0;

describe('what a test asks of the machine', () => {
  it('is in the table of docs/developing.md, with the tests that want it', () => {
    const rows = toolRows();
    expect(page.split('\n').filter((line) => rows.includes(line))).toEqual(rows);
    const [, table = ''] = page.split('| wanted | by |\n');
    expect(table.split('\n\n')[0]?.split('\n').slice(1)).toEqual(rows);
  });

  it('is wanted by some test, each name of it', () => {
    const unused = [...testsByTool()].filter(([, wanting]) => wanting.length === 0);
    expect(unused.map(([name]) => name)).toEqual([]);
  });

  it('names on the page all that every test may start', () => {
    const [, sentence = ''] = /Every test may start (.+?)\. Everything/s.exec(page) ?? [];
    const named = [...sentence.matchAll(/`([^`]+)`/g)].flatMap(([, list = '']) => list.split(' '));
    expect(named.toSorted()).toEqual([...NEEDED].toSorted());
  });
});

describe('a test that has not asked', () => {
  it('finds none of the programs, also where the machine has them', () => {
    const programs = Object.values(TOOLS).flatMap((tool) => tool.programs);
    expect(programs.filter(finds)).toEqual([]);
    expect(['node', 'npm', 'git', 'bash'].filter((name) => !finds(name))).toEqual([]);
  });

  it('gets the programs of what it asks for, where the machine has them', () => {
    const { isMet } = needs('curl');
    expect(finds('curl')).toBe(isMet);
  });
});

describe('the sources of the tests', () => {
  /** Assembled, so that this file does not have them. */
  const SKIPS = new RegExp(['(describe|it|test)', '(skip|only)\\b'].join('\\.'));
  it('skip nothing but by needs', () => {
    const skipping = tests.filter((path) => SKIPS.test(readSource(path)));
    expect(skipping).toEqual(['testing/machine/needs.ts']);
  });

  it("start bash without the user's files", () => {
    const starting = tests.filter((path) =>
      /(spawn|execFile|run)\w*\)?\(\s*'bash'/.test(readSource(path)),
    );
    expect(starting.filter((path) => path !== 'tests/machine/needs.test.ts')).toEqual([]);
  });
});
