import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { draftJob } from '../../api/ledger/escrow.ts';
import type { LockedJob } from '../../api/ledger/job.ts';
import { lockOnLedger } from '../../api/ledger/lockOnLedger.ts';
import type { ProvenAnswer } from '../../api/ledger/proof.ts';
import {
  decodeTokenAccount,
  encodeTokenAccount,
  FROZEN,
} from '../../programs/client/token/layout.ts';
import { accepted } from '../../testing/ledger/interceptedConnection.ts';
import { advanceSeconds, BLOCKHASH_MS, writeAccount } from '../../testing/ledger/ledger.ts';
import { openSettlementScene, type SettlementScene, unchecked } from './settlementScene.ts';

/** What a settlement of the scene's answer costs. */
const CHARGE = 3n;

let scene: SettlementScene;
let before: { credits: bigint; sent: number };

beforeAll(async () => {
  scene = await openSettlementScene();
});
afterAll(() => scene?.close());

beforeEach(async () => {
  // What was at fault before travels with others again.
  await scene.reopen();
  before = { credits: await scene.availableCredits(), sent: scene.sent() };
});
afterEach(() => scene.intercept());

/** Settles jobs that wait together. */
function settleAll(jobs: readonly LockedJob[], answers: readonly ProvenAnswer[] = []) {
  return Promise.all(jobs.map((job, index) => scene.settleJob(job, answers[index])));
}

/** Asks for a lock as a request does. */
function lockFor(wallet: string) {
  return lockOnLedger(scene.context, {
    payer: { wallet, sequence: null },
    quoted: { model: scene.service.model, tokenLimit: 100, lockCredits: 1_000n },
    draft: draftJob(scene.context, wallet),
  } as unknown as Parameters<typeof lockOnLedger>[1]);
}

type Three = readonly [LockedJob, LockedJob, LockedJob];

/** Of one wallet and worker. */
const lockThree = () => scene.lockJobs(3) as Promise<unknown> as Promise<Three>;

/** What becomes of the last of three, which is at fault, while the others are settled together. */
async function lastOf(jobs: Three, answers: readonly ProvenAnswer[] = []) {
  const [one, other, last] = await settleAll(jobs, answers);
  expect([one, other]).toMatchObject(Array(2).fill({ status: 'settled' }));
  for (const job of jobs.slice(0, 2)) {
    expect(await scene.read(job)).toMatchObject({ status: 'settled', chargedCredits: CHARGE });
  }
  return last;
}

/** So many were charged, each once, and nothing is locked any more. */
async function expectCharged(count: number): Promise<void> {
  expect(before.credits - (await scene.availableCredits())).toBe(BigInt(count) * CHARGE);
}

describe('settlements that wait together', () => {
  it('share one transaction, three of one wallet and worker', async () => {
    const jobs = await scene.lockJobs(3);
    const ends = await settleAll(jobs);
    expect(new Set(ends.map((end) => 'signature' in end && end.signature)).size).toBe(1);
    expect(scene.sent() - before.sent).toBe(1);
    await expectCharged(3);
  });

  it('share one transaction, two of any', async () => {
    const [wallet, worker] = [await scene.addWallet(), await scene.addWorker()];
    const [job] = (await scene.lockJobs(1)) as [LockedJob];
    const [other] = (await scene.lockJobs(1, wallet)) as [LockedJob];
    const ends = await settleAll(
      [job, other],
      [scene.answerTo(job), scene.answerTo(other, { worker })],
    );
    expect(ends).toMatchObject(Array(2).fill({ status: 'settled' }));
    expect(scene.sent() - before.sent).toBe(1);
    await expectCharged(1);
  });

  it('never share one with a lock, whose refusal is no matter to them', async () => {
    const jobs = await scene.lockJobs(2);
    const refused = lockFor(Keypair.generate().publicKey.toBase58());
    const [ends, refusal] = await Promise.all([
      settleAll(jobs),
      refused.then(
        () => 'locked',
        () => 'refused',
      ),
    ]);
    expect(refusal).toBe('refused');
    expect(ends).toMatchObject(Array(2).fill({ status: 'settled' }));
    await expectCharged(2);
  });
});

describe.each([
  ['is found before it is passed on', undefined, 2],
  ['shows in a block', unchecked, 3],
] as const)('a fault in a batch that %s', (_when, node, transactions) => {
  beforeEach(() => scene.intercept(node));

  it('of a job that another process has failed leaves the others settled', async () => {
    const jobs = await lockThree();
    await scene.fail(jobs[2].address);
    expect(await lastOf(jobs)).toEqual({ status: 'failed', signature: null });
    expect(scene.sent() - before.sent).toBe(transactions);
    await expectCharged(2);
  });

  it.each<[string, (jobs: Three) => unknown, object, number]>([
    [
      'of another attempt',
      ([, , job]) => scene.acknowledge(job.address, 2),
      { status: 'failed' },
      2,
    ],
    [
      'of a forged proof',
      ([, , job]) => scene.answerTo(job, { key: Keypair.generate() }),
      { status: 'failed', hasWorkerLeft: true },
      2,
    ],
    [
      'of a proof that somebody landed alone, which counts,',
      async ([, , job]) => {
        await scene.acknowledge(job.address);
        await scene.prove(job.address);
      },
      { status: 'settled' },
      3,
    ],
  ])('%s leaves the others settled', async (_what, spoil, end, charged) => {
    const jobs = await lockThree();
    const spoilt = (await spoil(jobs)) as ProvenAnswer | undefined;
    const answers = [scene.answerTo(jobs[0]), scene.answerTo(jobs[1]), ...(spoilt ? [spoilt] : [])];
    expect(await lastOf(jobs, answers)).toMatchObject(end);
    await expectCharged(charged);
  });

  it('of a passed deadline leaves the others settled, and refunds its job', async () => {
    const [late] = (await scene.lockJobs(1)) as [LockedJob];
    const { refundableAt } = late.deadlines;
    await advanceSeconds(scene.ledger.connection, 125);
    await scene.context.clock.waitUntil(refundableAt);
    const [one, other] = (await scene.lockJobs(2)) as [LockedJob, LockedJob];
    // As if the ledger's clock had been read wrongly.
    const misjudged = { ...late, deadlines: { ...late.deadlines, proofDueAt: refundableAt + 60n } };
    expect(await lastOf([one, other, misjudged])).toMatchObject({ status: 'refunded' });
    await expectCharged(2);
  });
});

describe('a settlement', () => {
  it('is dropped when its deadline passes before its batch is signed', async () => {
    const jobs = await lockThree();
    const { context } = scene;
    const dueAt = context.clock.nowSeconds() + 2n;
    const late = { ...jobs[2], deadlines: { ...jobs[2].deadlines, proofDueAt: dueAt } };
    // The node does not know the blockhash, so the batch is signed once more.
    scene.intercept(async ({ id }) => {
      scene.intercept();
      await context.clock.waitUntil(dueAt);
      const data = { err: 'BlockhashNotFound', logs: [] };
      return { jsonrpc: '2.0', id, error: { code: -32_002, message: 'unknown', data } };
    });
    expect(await lastOf([jobs[0], jobs[1], late])).toEqual({ status: 'overdue' });
    expect(scene.sent() - before.sent).toBe(2);
    await scene.fail(late.address);
    await expectCharged(2);
  });

  it('is dropped alone when a repeat took its lease and failed the job', async () => {
    const jobs = await lockThree();
    scene.intercept(async (request, forward) => {
      scene.intercept();
      await scene.fail(jobs[2].address);
      return unchecked(request, forward);
    });
    expect(await lastOf(jobs)).toEqual({ status: 'failed', signature: null });
    await expectCharged(2);
  });

  it('is sent again with its batch after an expiry, and charged once', async () => {
    const jobs = await scene.lockJobs(3);
    scene.intercept(async (request) => {
      scene.intercept();
      await advanceSeconds(scene.ledger.connection, (3 * BLOCKHASH_MS) / 1_000);
      return accepted(request);
    });
    expect(await settleAll(jobs)).toMatchObject(Array(3).fill({ status: 'settled' }));
    await expectCharged(3);
  });

  it('leaves a frozen payee its claim, and pays the others of its batch', async () => {
    const frozen = await scene.addWorker();
    await freeze(frozen.payout);
    const jobs = (await scene.lockJobs(2)) as [LockedJob, LockedJob];
    const answers = [scene.answerTo(jobs[0]), scene.answerTo(jobs[1], { worker: frozen })];
    const ends = await settleAll(jobs, answers);
    expect(ends).toMatchObject(Array(2).fill({ status: 'settled' }));
    expect(scene.sent() - before.sent).toBe(1);
    await expectCharged(2);
  });

  it('puts the proof of an earlier attempt aside', async () => {
    const thief = await scene.addWorker();
    const [job] = (await scene.lockJobs(1)) as [LockedJob];
    await scene.acknowledge(job.address);
    await scene.prove(job.address);
    const end = await scene.settleJob(job, scene.answerTo(job, { worker: thief, attempt: 2 }));
    expect(end).toMatchObject({ status: 'settled' });
    expect(await scene.read(job)).toMatchObject({ attempt: 2, worker: thief.address });
    await expectCharged(1);
  });
});

describe('the hot signer', () => {
  const fund = (lamports: number) =>
    scene.ledger.fundLamports(scene.service.hotSigner.publicKey, lamports);
  const wallet = () => scene.service.wallet.publicKey.toBase58();
  afterEach(() => fund(1e12));

  it('that cannot pay has another key pay, the rent too', async () => {
    const payer = Keypair.generate();
    await scene.ledger.fundLamports(payer.publicKey, 1e12);
    const [job] = (await scene.lockJobs(1)) as [LockedJob];
    await fund(0);
    await scene.reopen([payer]);
    expect(await scene.settleJob(job)).toMatchObject({ status: 'settled' });
    await expectCharged(1);
    const locked = await lockFor(wallet());
    expect(await scene.read(locked)).toMatchObject({ rentPayer: payer.publicKey });
    await scene.fail(locked.address);
  });
});

async function freeze(address: Parameters<typeof writeAccount>[1]): Promise<void> {
  const { connection } = scene.ledger;
  const account = await connection.getAccountInfo(address, 'confirmed');
  if (!account) throw new Error('there is no such token account');
  const data = encodeTokenAccount({ ...decodeTokenAccount(account.data), state: FROZEN });
  await writeAccount(connection.rpcEndpoint, address, { data });
}
