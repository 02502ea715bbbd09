import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import type pg from 'pg';
import { createKey, listKeys, regenerateKey, revokeKey } from '../../api/account/keys.ts';
import {
  reinstateWallet,
  suspendWallet,
  WalletSuspendedError,
} from '../../api/account/suspensions.ts';
import { createLogger } from '../../common/logger.ts';
import {
  createAbuseWatch,
  type Offence,
  rejectedDisputes,
  suspendOffenders,
  unpaidEndings,
} from '../../indexer/abuse/abuseWatch.ts';
import { rebuildMirror } from '../../indexer/mirror/rebuild.ts';
import { sweep } from '../../indexer/mirror/sweep.ts';
import type { FailureReason } from '../../programs/client/generated/vocabulary.ts';
import { createJobId, disputeExpire, jobFail, jobLock } from '../../programs/client/index.ts';
import { createLedgerClock } from '../../programs/client/sender/index.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { addresses, createScene, type Scene } from '../../testing/indexer/scene.ts';
import { readClockSeconds } from '../../testing/ledger/ledger.ts';
import { until } from '../../testing/until.ts';

/** What the scene holds against its wallet; see `misbehave`. */
const UNPAID_ENDINGS = 5;
const REJECTED_DISPUTES = 3;
const HOUR_SECONDS = 3_600n;
const DAY_SECONDS = 24 * 3_600;

let scene: Scene;
let mirror: MirrorDatabase;
let pool: pg.Pool;
let wallet: string;
/** The ledger's time when the last offence was over. */
let nowSeconds: bigint;

beforeAll(async () => {
  scene = await createScene();
  wallet = scene.service.wallet.publicKey.toBase58();
  await dispute();
  await misbehave();
  mirror = await createMirrorDatabase();
  pool = mirror.pool;
  await readLedger();
});

beforeEach(async () => {
  await pool.query('truncate service.api_keys, service.key_suspensions');
  await createKey(pool, wallet);
});

afterAll(async () => {
  await mirror?.close();
  await scene?.ledger.close();
});

async function lockOne(): Promise<PublicKey> {
  const [job] = await scene.lock();
  if (!job) throw new Error('one job was locked');
  return job;
}

async function fail(job: PublicKey, reason: FailureReason): Promise<void> {
  const { hotSigner, gateway, creditAccount } = scene.service;
  await scene.send([
    jobFail({
      ...{ signer: hotSigner.publicKey, gateway, job, creditAccount },
      reason: reason,
      ...{ deliveredHash: new Uint8Array(32), countedTokens: 0 },
    }),
  ]);
}

/** Three unpaid endings by leaving and two by empty answers, among others that are not the wallet's. */
async function misbehave(): Promise<void> {
  for (const job of await scene.lock(3)) await fail(job, 'client_gone');
  const empty = await lockOne();
  for (const attempt of [1, 2, 3]) await scene.acknowledge(empty, attempt);
  await fail(empty, 'empty_output');
  // At the only worker: who else could be asked is the API's to know.
  const emptyOnce = await lockOne();
  await scene.acknowledge(emptyOnce);
  await fail(emptyOnce, 'empty_output');
  await fail(await lockOne(), 'worker_error');
  await leaveOwnJob();
  const overdue = await lockOne();
  await scene.wait(121);
  await scene.refund(overdue);
}

/** A job that the wallet controls itself, on which this service has never worked. */
async function leaveOwnJob(): Promise<void> {
  const { service } = scene;
  const { creditAccount, model } = service;
  const signer = service.wallet.publicKey;
  const nowMs = Number(await readClockSeconds(scene.ledger.connection)) * 1_000;
  const { bytes, address } = createJobId({ nowMs, creditAccount });
  const lock = jobLock({
    ...{ payer: scene.ledger.payer.publicKey, signer, wallet: signer },
    ...{ modelId: model.id, jobId: bytes, tokenLimit: 2_000, maxCredits: 8n },
  });
  const leave = jobFail({
    ...{ signer, job: address, creditAccount },
    reason: 'client_gone',
    ...{ deliveredHash: new Uint8Array(32), countedTokens: 0 },
  });
  await scene.send([lock, leave], [service.wallet]);
}

/** Two disputes that are rejected, one that is upheld, and one that expires. */
async function dispute(): Promise<void> {
  const disputed = async () => {
    const job = await lockOne();
    await scene.acknowledge(job);
    await scene.settle(job);
    await scene.dispute(job);
    return job;
  };
  await scene.resolve(await disputed(), 'rejected');
  await scene.resolve(await disputed(), 'rejected');
  await scene.resolve(await disputed(), 'upheld_gateway');
  const job = await disputed();
  await scene.wait(DAY_SECONDS + 1);
  const { creditAccount } = scene.service;
  await scene.send([disputeExpire({ job, creditAccount })], []);
}

/** Brings the mirror to where the ledger is. */
async function readLedger(): Promise<void> {
  nowSeconds = await readClockSeconds(scene.ledger.connection);
  const client = await pool.connect();
  await sweep({
    ...{ database: client, source: scene.source, addresses, commitment: 'confirmed' },
    ...{ outbox: null, onFolded: () => {}, signal: new AbortController().signal },
  });
  client.release();
}

function suspend(offence: Offence, offencesMax: number, atSeconds = nowSeconds) {
  return suspendOffenders(pool, { offence, offencesMax, nowSeconds: atSeconds });
}

async function statusOfKey(): Promise<unknown> {
  return (await listKeys(pool))[0]?.status;
}

describe('abuse detection', () => {
  it('counts requests that clients left and empty answers, no other failure', async () => {
    expect(await suspend(unpaidEndings, UNPAID_ENDINGS)).toEqual([]);
    expect(await statusOfKey()).toBe('active');
    expect(await suspend(unpaidEndings, UNPAID_ENDINGS - 1)).toEqual([
      { wallet, offences: BigInt(UNPAID_ENDINGS) },
    ]);
    expect(await statusOfKey()).toBe('suspended');
  });

  it('counts disputes that were rejected or expired, but not upheld ones [failures.abuse]', async () => {
    expect(await suspend(rejectedDisputes, REJECTED_DISPUTES)).toEqual([]);
    expect(await suspend(rejectedDisputes, REJECTED_DISPUTES - 1)).toEqual([
      { wallet, offences: BigInt(REJECTED_DISPUTES) },
    ]);
  });

  it('looks back one hour for requests, 30 days for disputes, in ledger time', async () => {
    const afterAnHour = nowSeconds + HOUR_SECONDS;
    expect(await suspend(unpaidEndings, 1, afterAnHour)).toEqual([]);
    expect(await suspend(rejectedDisputes, 1, afterAnHour + 30n * 24n * HOUR_SECONDS)).toEqual([]);
    expect(await suspend(rejectedDisputes, 1, afterAnHour)).toHaveLength(1);
  });

  it('counts only what a wallet does after it was forgiven', async () => {
    await suspend(unpaidEndings, 1);
    await reinstateWallet(pool, wallet);
    expect(await suspend(unpaidEndings, 1)).toEqual([]);
    expect(await suspend(rejectedDisputes, 1)).toEqual([]);
    await scene.wait(2);
    for (const job of await scene.lock(2)) await fail(job, 'client_gone');
    await readLedger();
    expect(await suspend(unpaidEndings, 1)).toEqual([{ wallet, offences: 2n }]);
  });

  it('suspends a wallet for good, also with another key', async () => {
    await suspend(unpaidEndings, 1);
    await revokeKey(pool, wallet);
    await expect(createKey(pool, wallet)).rejects.toThrow(WalletSuspendedError);
    await expect(regenerateKey(pool, wallet)).rejects.toThrow(WalletSuspendedError);
    expect(await suspend(unpaidEndings, 1)).toEqual([]);
    expect(await statusOfKey()).toBe('suspended');
  });

  it('suspends a wallet that revoked its key before it was judged', async () => {
    await revokeKey(pool, wallet);
    expect(await suspend(unpaidEndings, 1)).toHaveLength(1);
    await expect(createKey(pool, wallet)).rejects.toThrow(WalletSuspendedError);
  });

  it('leaves alone a wallet that never had a key here', async () => {
    await pool.query('truncate service.api_keys');
    expect(await suspend(unpaidEndings, 1)).toEqual([]);
  });
});

describe('a suspension', () => {
  it('is journaled with author, time and reason, and listed until it ends', async () => {
    const [suspended] = await suspend(rejectedDisputes, 1);
    const reason = `rejected_disputes (${suspended?.offences})`;
    const why = { suspended_by: 'indexer', suspension_reason: reason };
    expect(await listKeys(pool)).toMatchObject([{ wallet, status: 'suspended', ...why }]);
    await reinstateWallet(pool, wallet);
    expect(await listKeys(pool)).toMatchObject([
      { status: 'active', suspended_by: null, suspension_reason: null },
    ]);
    await suspendWallet(pool, wallet, 'asked for by its owner');
    const { rows } = await pool.query(
      `select suspended_by, reason, lifted_at is not null as is_lifted, judged_at,
              suspended_at <= now() as is_past
       from service.key_suspensions where wallet = $1 order by id`,
      [wallet],
    );
    expect(rows).toEqual([
      {
        ...{ suspended_by: 'indexer', reason },
        ...{ is_lifted: true, judged_at: nowSeconds, is_past: true },
      },
      {
        ...{ suspended_by: 'operator', reason: 'asked for by its owner' },
        ...{ is_lifted: false, judged_at: null, is_past: true },
      },
    ]);
  });

  it('is made once when several processes judge the wallet at the same time', async () => {
    const judged = await Promise.all(Array.from({ length: 4 }, () => suspend(unpaidEndings, 1)));
    expect(judged.flat()).toHaveLength(1);
    expect((await pool.query('select from service.key_suspensions')).rowCount).toBe(1);
  });

  it('survives a rebuild of the mirror and is not repeated by it', async () => {
    const rebuild = () =>
      rebuildMirror({
        ...{ pool, source: scene.source, addresses, onFolded: () => {} },
        signal: new AbortController().signal,
      });
    await rebuild();
    expect(await suspend(unpaidEndings, 1)).toHaveLength(1);
    await rebuild();
    expect(await statusOfKey()).toBe('suspended');
    await reinstateWallet(pool, wallet);
    await rebuild();
    expect(await suspend(unpaidEndings, 1)).toEqual([]);
  });
});

describe('the abuse watch', () => {
  async function watchWith(offencesMax: number, isSeen: () => Promise<boolean>) {
    const reasons: string[] = [];
    const clock = createLedgerClock({ rpc: scene.ledger.rpc });
    const stopping = new AbortController();
    const watch = createAbuseWatch({
      intervalMs: 5_000,
      limits: [
        { offence: unpaidEndings, offencesMax: 0 },
        { offence: rejectedDisputes, offencesMax },
      ],
      ...{ database: pool, clock, logger: createLogger({ name: 'test', level: 'silent' }) },
      metrics: { suspended: (reason) => void reasons.push(reason) },
    });
    const running = watch.run(stopping.signal);
    await until(isSeen);
    stopping.abort();
    await running;
    clock.close();
    return reasons;
  }

  it('suspends and counts where a limit is set, and skips other checks', async () => {
    const isSuspended = async () => (await statusOfKey()) === 'suspended';
    expect(await watchWith(1, isSuspended)).toEqual(['rejected_disputes']);
    expect(await listKeys(pool)).toMatchObject([
      { suspension_reason: `rejected_disputes (${REJECTED_DISPUTES})` },
    ]);
  });
});
