import { spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { checkout } from './documents.ts';

/** Runs a script's file as npm does, without its own environment. */
const run = (...args: string[]) =>
  spawnSync(process.execPath, args, { cwd: checkout, encoding: 'utf8' });

it.each([
  [['bench/main.ts'], 'npm run bench -- api|compute-units|'],
  [['bench/main.ts', 'unknown'], 'npm run bench -- api|compute-units|'],
  [['tests/long.mjs'], 'npm run test:long -- fuzz|simulate|'],
  [['tests/long.mjs', 'unknown'], 'npm run test:long -- fuzz|simulate|'],
])('%j ends with 2 and the names that it takes', (args, help) => {
  const { status, stderr } = run(...args);
  expect(stderr).toContain(help);
  expect(status).toBe(2);
});

it('npm run bench leaves the options to the measure', () => {
  const { status, stderr } = run('bench/main.ts', 'path', '--unknown');
  expect(stderr).toContain("Unknown option '--unknown'");
  expect(status).toBe(1);
});

it('npm run generate -- --check finds every generated file current', () => {
  expect(run('bin/generate.ts', '--check')).toMatchObject({ status: 0, stderr: '' });
});

it('npm run lint:packages -- licences accepts every dependency’s licence', () => {
  const { status, stdout, stderr } = run('bin/lintPackages.mjs', 'licences');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('zod ');
});

it('npm run lint:packages refuses an unknown check', () => {
  expect(run('bin/lintPackages.mjs', 'unknown').stderr).toContain('name types or licences');
});

it('npm run counts -- --rules finds a test of every rule of the interface', () => {
  const { status, stdout } = run('tests/tidy/counts.ts', '--rules');
  expect(stdout).toMatch(/^rules of the interface that tests show +(\d+) of \1\n/);
  expect(status).toBe(0);
});
