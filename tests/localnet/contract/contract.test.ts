import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Localnet, startLocalnet } from '../../../localnet/start.ts';
import { type Answers, collectAnswers } from './calls.ts';
import { compareAnswers, type Difference, isStated } from './differences.ts';
import { STATED } from './stated.ts';

const SURFPOOL = fileURLToPath(new URL('./surfpool.mjs', import.meta.url));
/** The validator to compare with; by default surfpool, where there is a build of it. */
const { CONTRACT_RPC_URL: givenUrl, CONTRACT_WS_URL: givenWsUrl = '' } = process.env;
const STARTS_MAX = 3;
const START_MS_MAX = 10_000;

let ours: Localnet;
let other: ChildProcess | undefined;
let answers: { ours: Answers; theirs: Answers };

beforeAll(async () => {
  ours = await startLocalnet();
  const theirs = givenUrl ? { rpcUrl: givenUrl, wsUrl: givenWsUrl } : await startSurfpool();
  const run = Date.now();
  answers = {
    ours: await collectAnswers(ours, run),
    theirs: await collectAnswers(theirs, run),
  };
}, 120_000);
afterAll(async () => {
  other?.kill('SIGKILL');
  await ours.close();
});

async function startSurfpool(): Promise<{ rpcUrl: string; wsUrl: string }> {
  for (let tries = 1; ; tries += 1) {
    const child = spawn(process.execPath, [SURFPOOL], { stdio: ['ignore', 'pipe', 'ignore'] });
    other = child;
    try {
      const signal = AbortSignal.timeout(START_MS_MAX);
      const [line] = await once(createInterface({ input: child.stdout }), 'line', { signal });
      return JSON.parse(line);
    } catch (error) {
      child.kill('SIGKILL');
      if (tries === STARTS_MAX) throw error;
    }
  }
}

describe('the local ledger and another one', () => {
  it('answer the same calls alike, but for what is stated', () => {
    const found = [...answers.ours].flatMap(([name, answer]) =>
      compareAnswers(answer, answers.theirs.get(name), name),
    );
    const stated = new Map<string, Difference>();
    const unstated = found.filter((difference) => {
      const known = isStated(difference, STATED);
      if (known) stated.set(difference, known);
      return !known;
    });
    const told = [...stated].map(([difference, { reason }]) => `${difference}\n    ${reason}`);
    process.stdout.write(`Stated differences, ours first:\n${told.join('\n')}\n`);
    expect(unstated).toEqual([]);
  });
});
