import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
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
const hasOther = givenUrl !== undefined || hasSurfpool();
const STARTS_MAX = 3;
const START_MS_MAX = 10_000;

let ours: Localnet | undefined;
let other: ChildProcess | undefined;
let answers: { ours: Answers; theirs: Answers };

beforeAll(async () => {
  if (!hasOther) return;
  ours = await startLocalnet();
  const { rpcUrl, wsUrl } = ours;
  const theirs = givenUrl ? { rpcUrl: givenUrl, wsUrl: givenWsUrl } : await startSurfpool();
  const run = Date.now();
  answers = {
    ours: await collectAnswers({ rpcUrl, wsUrl }, run),
    theirs: await collectAnswers(theirs, run),
  };
}, 120_000);
afterAll(async () => {
  other?.kill('SIGKILL');
  await ours?.close();
});

function hasSurfpool(): boolean {
  const platform = `${process.platform}-${process.arch}`;
  const suffix = process.platform === 'linux' ? '-gnu' : '';
  try {
    createRequire(import.meta.url).resolve(`@solana/surfpool-${platform}${suffix}`);
    return true;
  } catch {
    return false;
  }
}

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
  // On a platform without a build of surfpool, CONTRACT_RPC_URL names what to compare with.
  (hasOther ? it : it.skip)('answer the same calls alike, but for what is stated', () => {
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
