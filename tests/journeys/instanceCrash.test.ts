import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import OpenAI from 'openai';
import { within } from '../../common/wait.ts';
import { isEnded } from '../../programs/client/accounts.ts';
import type { JobStatus } from '../../programs/client/generated/vocabulary.ts';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { type Balancer, startBalancer } from '../../testing/service/balancer.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { createScriptedEngine } from '../../testing/workers/engines.ts';

const REQUESTS = 20;
const LOCKED_BEFORE_KILL = 12;
const CREDITS = 100n;
const CHARGE_CREDITS = 8n;
/** More would cost by the rate. */
const ANSWER_TOKENS = 500;
const WORD_MS = 100;
const TIMEOUT_SECONDS = 120;

let service: RunningService;
let killed: StartedProcess;
/** No answer ends before the kill. */
const killing = Promise.withResolvers<void>();
let balancer: Balancer;

beforeAll(async () => {
  const engine = createScriptedEngine();
  engine.play(async function* (signal) {
    yield 'First';
    while (!(await within(WORD_MS, killing.promise))) {
      signal.throwIfAborted();
      yield ' again';
    }
  });
  service = await startRunningService({ workers: [engine, engine] });
  const [first, second] = await Promise.all([service.startApiProcess(), service.startApiProcess()]);
  killed = first;
  balancer = await startBalancer([first.url, second.url]);
});

afterAll(async () => {
  await balancer?.close();
  await service?.close();
});

/** The official client with a wallet of its own, whose balance tells what its request cost. */
interface Client {
  wallet: PublicKey;
  isStream: boolean;
  /** Asks, with the client's silent retries. @returns whether it got its answer */
  ask(): Promise<boolean>;
}

/** A stream that breaks off is the caller's to repeat: under a key, so that it is the same request. */
async function addClient(index: number): Promise<Client> {
  const { address, apiKey } = await service.addWallet(CREDITS);
  const { completions } = new OpenAI({ baseURL: `${balancer.url}/v1`, apiKey }).chat;
  // Two by two, since the balancer alternates.
  const isStream = index % 4 < 2;
  const body = {
    model: service.model.id,
    messages: [{ role: 'user' as const, content: `Request ${index}.` }],
    max_tokens: ANSWER_TOKENS,
  };
  async function complete(): Promise<void> {
    if (!isStream) return void (await completions.create(body));
    const headers = { 'idempotency-key': `request-${index}` };
    const stream = await completions.create({ ...body, stream: true }, { headers });
    for await (const _chunk of stream);
  }
  return {
    ...{ wallet: address, isStream },
    ask: () =>
      complete().then(
        () => true,
        () => false,
      ),
  };
}

/** Waits until the mirror shows an end for every job that ever was. @returns them by wallet */
async function untilAllEnded(): Promise<Map<string, JobStatus[]>> {
  let statuses = new Map<string, JobStatus[]>();
  await until(async () => {
    const { rows } = await service.pool.query<{ wallet: string; statuses: JobStatus[] }>(
      'select wallet, array_agg(status) as statuses from mirror.jobs group by wallet',
    );
    statuses = new Map(rows.map((row) => [row.wallet, row.statuses]));
    return [...statuses.values()].flat().every((status) => isEnded(status));
  });
  return statuses;
}

describe(`an instance that is killed under ${REQUESTS} requests`, () => {
  it('loses no credit, and no request is charged twice, however often it is repeated', async () => {
    const clients: Client[] = [];
    for (let index = 0; index < REQUESTS; index += 1) clients.push(await addClient(index));

    const asking = Promise.all(clients.map(({ ask }) => ask()));
    await service.untilJobs((jobs) => jobs.length >= LOCKED_BEFORE_KILL);
    // A stream: the others begin with their end.
    await until(async () => balancer.begun(killed.url) > 0);
    await killed.kill();
    killing.resolve();
    const answered = await asking;
    expect(balancer.cuts()).toBeGreaterThan(0);
    expect(answered).toContain(true);

    await service.untilMirrored();
    await service.advanceSeconds(TIMEOUT_SECONDS + 1);
    await untilAllEnded();
    const cutStreams = clients.filter(({ isStream }, index) => isStream && !answered[index]);
    expect(cutStreams).not.toEqual([]);
    await Promise.all(cutStreams.map(({ ask }) => until(ask)));

    await service.untilMirrored();
    const statuses = await untilAllEnded();
    for (const { wallet } of clients) {
      // None where the request did not come as far as its lock.
      const ended = statuses.get(wallet.toBase58()) ?? [];
      const settled = ended.filter((status) => status === 'settled').length;
      expect(settled).toBeLessThanOrEqual(1);
      const { availableCredits, lockedCredits } = await service.account(wallet);
      expect({ availableCredits, lockedCredits }).toEqual({
        availableCredits: CREDITS - CHARGE_CREDITS * BigInt(settled),
        lockedCredits: 0n,
      });
    }
    await service.expectConserved();
  });
});
