import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import OpenAI from 'openai';
import { delay } from '../../common/wait.ts';
import { fetchJob } from '../../programs/client/accounts.ts';
import type { StackDescription } from '../../stack/stackFile.ts';
import { type CliResult, runCli } from '../../testing/cli.ts';
import type { JobScene } from '../../testing/ledger/jobScene.ts';
import { callLedger } from '../../testing/ledger/ledger.ts';
import { createWorkplace, type StartedStack, type Workplace } from '../stack/startedStack.ts';
import { lockOne, openValidatorScene, VALIDATOR } from './scene.ts';

/** A refund is due after two minutes, a verdict after one. */
jest.setTimeout(300_000);
const CLIENTS = 16;
const LOAD_MS = 60_000;
const POLL_MS = 500;

let workplace: Workplace;
let started: StartedStack;
let stack: StackDescription;
let scene: JobScene;
/** Locked by the gateway's signer, and left alone. */
let abandoned: PublicKey;
let disputed: PublicKey;
const answered: string[] = [];

beforeAll(async () => {
  workplace = await createWorkplace();
  started = workplace.start({
    SOLANA_RPC_URL: VALIDATOR.rpcUrl,
    SOLANA_WS_URL: VALIDATOR.wsUrl,
    SVC_AUTHORITY_KEY: VALIDATOR.authorityKey,
  });
  stack = await started.running();
  scene = openValidatorScene(0);
  abandoned = await lockOne(scene);
  disputed = await lockOne(scene);
  await scene.acknowledge(disputed);
  await scene.settle(disputed);
  await scene.dispute(disputed);
});

afterAll(async () => {
  await started?.stop();
  await workplace?.close();
});

/** In the folder where the stack runs, so that commands find it. */
const svc = (...args: string[]): Promise<CliResult> => runCli(args, { cwd: workplace.folder });

const verify = (job: string) =>
  svc('verify', job, '--rpc', VALIDATOR.rpcUrl, '--wallet', stack.wallet);

/** Once it has the status: the last words of a stream come before its settlement. */
async function expectVerified(job: string, status: string): Promise<void> {
  let found = await verify(job);
  while (!found.output.includes(`: ${status}, `)) {
    await delay(POLL_MS);
    found = await verify(job);
  }
  const { code, output, error } = found;
  expect({ code, error, output }).toMatchObject({ code: 0 });
  expect(output).toContain('Everything that applies holds.');
}

/** @returns the job's id */
async function ask(number: number, isStreamed: boolean): Promise<string> {
  const client = new OpenAI({
    baseURL: `${stack.baseUrl}/v1`,
    apiKey: stack.apiKey,
    maxRetries: 0,
  });
  const body = {
    model: stack.model,
    max_tokens: 24,
    messages: [{ role: 'user' as const, content: `Question ${number}.` }],
  };
  let text = '';
  const { data, response } = isStreamed
    ? await client.chat.completions.create({ ...body, stream: true }).withResponse()
    : await client.chat.completions.create(body).withResponse();
  if ('choices' in data) text = data.choices[0]?.message.content ?? '';
  else for await (const { choices } of data) text += choices[0]?.delta.content ?? '';
  expect(text).not.toBe('');
  return response.headers.get('x-svc-job-id') ?? '';
}

async function untilEnded(job: PublicKey, status: string): Promise<void> {
  for (;;) {
    const account = await fetchJob(scene.ledger.connection, job, { commitment: 'confirmed' });
    // The keeper may have closed it by then.
    if (account === null || account.status === status) return;
    await delay(POLL_MS);
  }
}

describe("on Solana's own validator", () => {
  it('npm start answers the official client, and the jobs verify', async () => {
    for (const isStreamed of [false, true]) answered.push(await ask(answered.length, isStreamed));
    for (const job of answered) await expectVerified(job, 'settled');
  });

  it(`${CLIENTS} clients get every answer for a minute`, async () => {
    const endMs = performance.now() + LOAD_MS;
    const client = async (index: number) => {
      for (let number = index; performance.now() < endMs; number += CLIENTS) {
        answered.push(await ask(number, index % 2 === 0));
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index + CLIENTS)));
    const rate = (answered.length / LOAD_MS) * 1_000;
    process.stderr.write(`${answered.length} answers, ${rate.toFixed(1)} a second\n`);
    expect(new Set(answered).size).toBe(answered.length);
    await expectVerified(answered.at(-1) ?? '', 'settled');
  });

  it('a job whose transactions are of version 1 is verified', async () => {
    const newest = openValidatorScene(1);
    const job = await lockOne(newest);
    await newest.acknowledge(job);
    await newest.settle(job);
    const address = job.toBase58();
    const listed = await callLedger<{ signature: string }[]>(
      VALIDATOR.rpcUrl,
      'getSignaturesForAddress',
      [address, { commitment: 'confirmed' }],
    );
    const config = { commitment: 'confirmed', maxSupportedTransactionVersion: 1 };
    for (const { signature } of listed) {
      const shown = await callLedger(VALIDATOR.rpcUrl, 'getTransaction', [signature, config]);
      expect(shown).toMatchObject({ version: 1 });
    }
    await expectVerified(address, 'settled');
  });

  it('a verdict rests on two proofs of one attempt', async () => {
    await scene.resolve(disputed, 'upheld_worker');
    await untilEnded(disputed, 'refunded');
    await expectVerified(disputed.toBase58(), 'refunded');
  });

  it('a job that no worker finishes is refunded after 120 s', async () => {
    await untilEnded(abandoned, 'refunded');
    await expectVerified(abandoned.toBase58(), 'refunded');
  });

  it('the program holds in an audit, and the mirror agrees with it', async () => {
    expect(await svc('audit', '--rpc', VALIDATOR.rpcUrl)).toMatchObject({ code: 0 });
    expect(await svc('indexer', 'reconcile')).toMatchObject({ code: 0, error: '' });
  });

  it('a rebuilt mirror is equal to the old one', async () => {
    const { code, output, error } = await svc('indexer', 'rebuild');
    expect({ code, error, output }).toMatchObject({ code: 0 });
    expect(output).toContain('It is equal to the old one.');
  });
});
