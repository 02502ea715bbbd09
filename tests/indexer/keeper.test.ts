import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { createLogger } from '../../common/logger.ts';
import { delay } from '../../common/wait.ts';
import { createKeepers } from '../../indexer/keeper/duties.ts';
import { createKeeper } from '../../indexer/keeper/keeper.ts';
import { sweep } from '../../indexer/mirror/sweep.ts';
import type { TaskResult } from '../../indexer/telemetry/metrics.ts';
import { jobRefund, PROGRAM_ID } from '../../programs/client/index.ts';
import {
  type Batcher,
  COSTS,
  createLedgerClock,
  createSender,
  type LedgerClock,
} from '../../programs/client/sender/index.ts';
import {
  decodeTokenAccount,
  encodeTokenAccount,
  FROZEN,
  INITIALIZED,
} from '../../programs/client/token/layout.ts';
import { ownMirror, ownScene } from '../../testing/indexer/own.ts';
import { addresses } from '../../testing/indexer/scene.ts';
import { stopClock, writeAccount } from '../../testing/ledger/ledger.ts';
import { until } from '../../testing/until.ts';

const logger = createLogger({ name: 'test', level: 'silent' });
const LAMPORTS = 10e9;
const MIRROR_INTERVAL_MS = 50;

const scene = await ownScene();
const mirror = await ownMirror();
let stopping: AbortController;
let running: Promise<unknown>[];
/** Added to the time by which keepers rest. */
let aheadMs: number;

beforeEach(async () => {
  stopping = new AbortController();
  running = [keepMirrored()];
  aheadMs = 0;
});

afterEach(async () => {
  stopping.abort();
  await Promise.all(running);
});

async function keepMirrored(): Promise<void> {
  const { signal } = stopping;
  const client = await mirror.pool.connect();
  while (!signal.aborted) {
    await sweep({
      ...{ database: client, source: scene.source, addresses, commitment: 'confirmed' },
      ...{ outbox: null, onFolded: () => {}, signal: new AbortController().signal },
    });
    await delay(MIRROR_INTERVAL_MS, signal);
  }
  client.release();
}

/** Starts all keepers of a process, with a crank of their own. @returns what became of each task */
async function startKeepers(): Promise<{ duty: string; result: TaskResult }[]> {
  const results: { duty: string; result: TaskResult }[] = [];
  const { rpc } = scene.ledger;
  const crank = Keypair.generate();
  await scene.ledger.fundLamports(crank.publicKey, LAMPORTS);
  const clock = createLedgerClock({ rpc });
  const sender = createSender({
    ...{ rpc, logger, commitment: 'confirmed', feePayers: [crank] },
  });
  const { keepers, close } = createKeepers({
    ...{ programId: PROGRAM_ID, database: mirror.pool, sender, clock, logger },
    metrics: { due: () => {}, duty: (duty, result) => void results.push({ duty, result }) },
    nowMs: () => performance.now() + aheadMs,
  });
  const ended = Promise.all(keepers.map((keeper) => keeper.run(stopping.signal)));
  running.push(
    ended.then(() => {
      close();
      sender.close();
      clock.close();
    }),
  );
  return results;
}

async function count(table: string, condition: string): Promise<number> {
  const { rows } = await mirror.pool.query(`select from ${table} where ${condition}`);
  return rows.length;
}

async function setFrozen(address: PublicKey, isFrozen: boolean): Promise<void> {
  const { connection } = scene.ledger;
  const account = await connection.getAccountInfo(address, 'confirmed');
  if (!account) throw new Error('there is no such token account');
  const state = isFrozen ? FROZEN : INITIALIZED;
  const data = encodeTokenAccount({ ...decodeTokenAccount(account.data), state });
  await writeAccount(connection.rpcEndpoint, address, { data });
}

describe('several keepers on one ledger', () => {
  it("refund what is overdue by the ledger's clock, and close it, once [failures.process-dies]", async () => {
    await stopClock(scene.ledger.connection);
    const results = await Promise.all([startKeepers(), startKeepers(), startKeepers()]);
    const jobs = await scene.lock(6);
    await scene.acknowledge(jobs[0] as PublicKey);
    await until(async () => (await count('jobs', "status = 'pending'")) === jobs.length - 1);
    await scene.wait(119);
    expect(await count('jobs', "status = 'refunded'")).toBe(0);
    await scene.wait(3);
    await until(async () => (await count('jobs', "status = 'refunded'")) === jobs.length);
    await scene.wait(150);
    await until(async () => (await count('jobs', 'closed')) === jobs.length);
    const resultsSoFar = () => results.flat().map(({ result }) => result);
    // The mirror may see a closing before the keeper that sent it learns of its own success.
    await until(
      async () => resultsSoFar().filter((result) => result === 'done').length >= 2 * jobs.length,
    );
    expect(resultsSoFar()).not.toContain('refused');
    expect(resultsSoFar()).not.toContain('failed');
    const events = (await scene.read()).flatMap((transaction) => transaction.events);
    expect(events.filter(({ name }) => name === 'JobRefunded')).toHaveLength(jobs.length);
    expect(events.filter(({ name }) => name === 'JobClosed')).toHaveLength(jobs.length);
  });
});

describe('a keeper', () => {
  it('expires undecided disputes', async () => {
    await startKeepers();
    const [undecided] = (await scene.lock()) as [PublicKey];
    await scene.acknowledge(undecided);
    await scene.settle(undecided);
    await scene.dispute(undecided);
    await scene.wait(86_401);
    await until(async () => (await count('jobs', "outcome = 'expired'")) === 1);
  });

  it('pays what a frozen vault held back once the vault thaws', async () => {
    const results = await startKeepers();
    const [job] = await scene.lock();
    if (!job) throw new Error('a job was locked');
    await scene.acknowledge(job);
    await setFrozen(addresses.vault, true);
    await scene.settle(job);
    await until(async () => (await count('treasury', 'unpaid_base_units > 0')) === 1);
    const refusals = () =>
      results.filter(({ duty, result }) => duty === 'claim_pay' && result === 'refused').length;
    await until(async () => refusals() === 2);
    await setFrozen(addresses.vault, false);
    aheadMs = 600_000;
    await until(async () => (await count('treasury', 'unpaid_base_units = 0')) === 1);
    await until(async () => (await count('workers', 'claimable_base_units = 0')) === 1);
    expect(refusals()).toBe(2);
  });

  it('performs due tasks even behind many that cannot be done', async () => {
    // The treasury's share of three jobs is more than the one credit that can be paid at least.
    const jobs = await scene.lock(3);
    for (const job of jobs) {
      await scene.acknowledge(job);
      await scene.settle(job);
    }
    const [disputed] = jobs as [PublicKey];
    await scene.dispute(disputed);
    await scene.resolve(disputed, 'upheld_gateway');
    await until(async () => (await count('credit_accounts', 'owed_credits = 3')) === 1);
    const nowhere = Array.from({ length: 205 }, () => Keypair.generate().publicKey.toBase58());
    await mirror.pool.query(
      `insert into workers select (jsonb_populate_record(workers, jsonb_build_object(
         'address', nowhere, 'authority', nowhere, 'claimable_base_units', 1))).*
       from workers, unnest($1::text[]) as nowhere`,
      [nowhere],
    );
    await startKeepers();
    await until(async () => (await count('credit_accounts', 'owed_credits < 3')) === 1);
  });

  it('begins nothing that it finds once another process leads', async () => {
    const asked = Promise.withResolvers<void>();
    const found = Promise.withResolvers<void>();
    const [job] = (await scene.lock()) as [PublicKey];
    const instruction = jobRefund({ job, creditAccount: scene.service.creditAccount });
    const begun = jest.fn();
    const keeper = createKeeper({
      duty: {
        ...{ name: 'job_refund', cost: COSTS.job_refund },
        ...{ supersededBy: [], retryMs: 1 },
        async find() {
          asked.resolve();
          await found.promise;
          return [{ address: job.toBase58(), instruction }];
        },
      },
      batcher: { add: begun } as unknown as Batcher,
      clock: { ready: Promise.resolve(), nowSeconds: () => 0n } as LedgerClock,
      metrics: { due: () => {}, duty: () => {} },
      ...{ database: mirror.pool, logger, nowMs: () => 0 },
    });
    const leading = new AbortController();
    const ended = keeper.run(leading.signal);
    await asked.promise;
    leading.abort();
    found.resolve();
    await ended;
    expect(begun).not.toHaveBeenCalled();
  });
});
