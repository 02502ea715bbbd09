import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import {
  formatJobId,
  formatReceipt,
  PROGRAM_ID,
  receiptMessage,
  signHashed,
} from '../../programs/client/index.ts';
import { conclude } from '../../programs/client/verify/check.ts';
import type { ClientEvidence } from '../../programs/client/verify/job/clientEvidence.ts';
import { gatherEvidence } from '../../programs/client/verify/job/gatherEvidence.ts';
import { locateJob } from '../../programs/client/verify/job/locateJob.ts';
import { verifyJob } from '../../programs/client/verify/job/verifyJob.ts';
import {
  addresses,
  createJobScene,
  type JobScene,
  type LockedJob,
  OUTPUT,
} from '../../testing/ledger/jobScene.ts';

const DAY_SECONDS = 86_400;
const NAMES = [
  ...['settled', 'long', 'reassigned', 'failed', 'refunded', 'rejected', 'upheldGateway'],
  ...['upheldWorker', 'upheldAgain', 'unborne', 'expired', 'claimable', 'closed'],
  ...['completed', 'retried', 'open'],
] as const;

let scene: JobScene;
let jobs: Record<(typeof NAMES)[number], LockedJob>;

/** A job for each way in which one can end, and one that has not. */
beforeAll(async () => {
  scene = await createJobScene();
  const [long] = await scene.lock({ count: 1, tokenLimit: 10_000 });
  const locked = await scene.lock({ count: 6, tokenLimit: 2_000 });
  const more = await scene.lock({ count: 6, tokenLimit: 2_000 });
  const others = await scene.lock({ count: 2, tokenLimit: 2_000 });
  const byName = Object.fromEntries(
    NAMES.filter((name) => name !== 'long' && name !== 'open').map((name, index) => [
      name,
      [...locked, ...more, ...others][index],
    ]),
  );
  jobs = { ...byName, long } as typeof jobs;
  // Before the verdicts: a worker that was slashed is given no job.
  for (const name of ['failed', 'claimable'] as const) await scene.acknowledge(jobs[name].address);
  const { settled, reassigned, failed, rejected, upheldGateway, expired, closed } = jobs;
  const { upheldWorker, upheldAgain, unborne } = jobs;
  // The worker's stake bears the whole slash twice.
  const againstWorker = [upheldWorker, upheldAgain, unborne];
  await scene.acknowledge(reassigned.address);
  await scene.acknowledge(reassigned.address, 3);
  await scene.settle(reassigned.address, { attempt: 3 });
  await scene.settleAtOnce(jobs.long.address, { tokens: 9_000 });
  for (const { address } of [settled, upheldGateway, upheldWorker, expired]) {
    await scene.acknowledge(address);
    await scene.settle(address);
  }
  const { completed, retried } = jobs;
  for (const { address } of [completed, rejected, upheldAgain, unborne, closed]) {
    await scene.complete(address);
  }
  await scene.acknowledge(retried.address);
  await scene.complete(retried.address, { attempt: 3 });
  for (const { address } of [rejected, upheldGateway, upheldWorker, upheldAgain, expired]) {
    await scene.dispute(address);
  }
  // Its controller may bring the wallet to no more.
  await scene.disputeAsWallet(unborne.address);
  await scene.fail(failed.address);
  await scene.closePayout();
  await scene.settle(jobs.claimable.address);
  await scene.resolve(rejected.address, 'rejected');
  await scene.resolve(upheldGateway.address, 'upheld_gateway');
  for (const { address } of againstWorker) await scene.resolve(address, 'upheld_worker');
  await scene.wait(DAY_SECONDS + 1);
  await scene.refund(jobs.refunded.address);
  await scene.expire(expired.address);
  await scene.close([closed.address]);
  const [open] = await scene.lock({ count: 1, tokenLimit: 2_000 });
  jobs.open = open as LockedJob;
});

afterAll(() => scene?.ledger.close());

async function verify(job: PublicKey, client: ClientEvidence = {}) {
  const { connection } = scene.ledger;
  return verifyJob(await gatherEvidence({ connection, addresses, job }), client);
}

const ALWAYS = [
  ...['history.signatures', 'history.authenticity', 'history.sequence', 'history.states'],
  ...['lock.address', 'lock.price', 'lock.balances'],
];
const GIVEN = ['work.attempts', 'deadline.acknowledged'];
const SETTLED = [
  ...GIVEN,
  ...['work.assignment', 'proof.signature', 'proof.key', 'proof.hash', 'settlement.signer'],
  ...['settlement.charge', 'settlement.share', 'settlement.balances'],
  ...['settlement.worker_payment', 'settlement.treasury_payment', 'settlement.tokens'],
  ...['deadline.proven', 'deadline.settled'],
];
const DISPUTED = [...SETTLED, 'dispute.opened', 'deadline.disputed', 'account.state'];
const RESOLVED = [...DISPUTED, 'dispute.evidence', 'dispute.resolved', 'deadline.resolved'];

describe('a job in order', () => {
  it.each([
    { name: 'settled', status: 'settled', charged: 3n, holding: [...SETTLED, 'account.state'] },
    { name: 'long', status: 'settled', charged: 36n, holding: [...SETTLED, 'account.state'] },
    { name: 'reassigned', status: 'settled', charged: 3n, holding: [...SETTLED, 'account.state'] },
    { name: 'claimable', status: 'settled', charged: 3n, holding: [...SETTLED, 'account.state'] },
    { name: 'completed', status: 'settled', charged: 3n, holding: [...SETTLED, 'account.state'] },
    { name: 'retried', status: 'settled', charged: 3n, holding: [...SETTLED, 'account.state'] },
    { name: 'closed', status: 'settled', charged: 3n, holding: [...SETTLED, 'account.closed'] },
    {
      name: 'failed',
      status: 'failed',
      charged: 0n,
      holding: [
        ...GIVEN,
        'failure.returned',
        'failure.balances',
        'deadline.failed',
        'account.state',
      ],
    },
    {
      name: 'refunded',
      status: 'refunded',
      charged: 0n,
      holding: ['refund.returned', 'refund.balances', 'deadline.refunded', 'account.state'],
    },
    { name: 'rejected', status: 'settled', charged: 3n, holding: RESOLVED },
    { name: 'upheldGateway', status: 'refunded', charged: 0n, holding: RESOLVED },
    { name: 'upheldWorker', status: 'refunded', charged: 0n, holding: RESOLVED },
    { name: 'upheldAgain', status: 'refunded', charged: 0n, holding: RESOLVED },
    // The treasury's share of three credits is no whole one.
    { name: 'unborne', status: 'refunded', charged: 3n, holding: RESOLVED },
    {
      name: 'expired',
      status: 'settled',
      charged: 3n,
      holding: [...DISPUTED, 'dispute.expired', 'deadline.expired'],
    },
    { name: 'open', status: 'pending', charged: 0n, holding: ['deadline.open', 'account.state'] },
  ] as const)(
    '$name: every rule that applies holds [jobs.ledger-record]',
    async ({ name, status, charged, holding }) => {
      const { job, checks } = await verify(jobs[name].address);
      const named = (verdict: string) => checks.filter((check) => check.verdict === verdict);
      expect(named('fails')).toEqual([]);
      expect(named('not_checkable')).toEqual([]);
      expect(
        named('holds')
          .map((check) => check.name)
          .sort(),
      ).toEqual([...ALWAYS, ...holding].sort());
      expect(conclude(checks)).toBe('holds');
      expect(job).toMatchObject({
        status,
        credits_charged: charged,
        model: scene.service.model.id,
      });
    },
  );

  it('has the worker of its only attempt, and of its last one', async () => {
    for (const { address } of [jobs.settled, jobs.completed, jobs.retried]) {
      const { job } = await verify(address);
      expect(job.worker).toBe(scene.service.worker.toBase58());
    }
    const attempts = async ({ address }: LockedJob) =>
      (await verify(address)).checks.find(({ name }) => name === 'work.attempts')?.detail;
    const worker = scene.service.worker.toBase58();
    expect(await attempts(jobs.completed)).toBe(`Attempt 1: ${worker}.`);
    expect(await attempts(jobs.retried)).toBe(`Attempt 1: ${worker}, 3: ${worker}.`);
  });

  it('reports pay that cannot be paid as claimable', async () => {
    const { checks } = await verify(jobs.claimable.address);
    const payment = checks.find(({ name }) => name === 'settlement.worker_payment');
    expect(payment?.detail).toBe(
      'Not payable then: 25500 base units, of 25500 claimable by the worker.',
    );
  });

  it('names the transactions behind each rule', async () => {
    const { checks, events } = await verify(jobs.settled.address);
    const [lock, , settlement] = new Set(events.map(({ transaction }) => transaction.signature));
    const charge = checks.find(({ name }) => name === 'settlement.charge');
    expect(charge?.evidence.map(({ signature }) => signature)).toEqual([lock, settlement]);
  });
});

describe("the client's evidence", () => {
  const receiptBy = (signer: Keypair, job: PublicKey, outputHash: Uint8Array) =>
    formatReceipt(
      signer.publicKey,
      signHashed(receiptMessage({ programId: PROGRAM_ID, job, outputHash }), signer),
    );
  const HASH = createHash('sha256').update(OUTPUT).digest();

  it.each<{ what: string; client: () => ClientEvidence; fails: string }>([
    {
      what: 'another text',
      client: () => ({ output: Buffer.from('another answer') }),
      fails: 'delivery.output',
    },
    {
      what: 'the text with a newline more',
      client: () => ({ output: Buffer.from(`${OUTPUT}\n`) }),
      fails: 'delivery.output',
    },
    {
      what: 'a receipt of a key that did not settle',
      client: () => ({ receipt: receiptBy(Keypair.generate(), jobs.settled.address, HASH) }),
      fails: 'delivery.receipt',
    },
    {
      what: 'a receipt of another job',
      client: () => ({ receipt: scene.receipt(jobs.reassigned.address) }),
      fails: 'delivery.receipt',
    },
    {
      what: 'a receipt for another text',
      client: () => ({
        receipt: receiptBy(scene.service.hotSigner, jobs.settled.address, new Uint8Array(32)),
      }),
      fails: 'delivery.receipt',
    },
    {
      what: 'something else in place of a receipt',
      client: () => ({ receipt: 'a.b' }),
      fails: 'delivery.receipt',
    },
  ])('is classified: $what', async ({ client, fails }) => {
    const { checks } = await verify(jobs.settled.address, client());
    const failing = checks.filter(({ verdict }) => verdict === 'fails');
    expect(failing.map(({ name }) => name)).toEqual([fails]);
  });

  it('convicts the signer of another text than was proven [disputes.evidence]', async () => {
    const output = Buffer.from('another answer');
    const outputHash = createHash('sha256').update(output).digest();
    const job = jobs.settled.address;
    const receipt = receiptBy(scene.service.hotSigner, job, outputHash);
    const { checks } = await verify(job, { output, receipt });
    expect(checks.find(({ name }) => name === 'delivery.receipt')).toMatchObject({
      verdict: 'fails',
      detail: expect.stringContaining(
        'signed that the given text was delivered, and not the proven',
      ),
    });
  });

  it('convicts neither party with a receipt from another signer', async () => {
    const output = Buffer.from('another answer');
    const outputHash = createHash('sha256').update(output).digest();
    const job = jobs.settled.address;
    const receipt = receiptBy(Keypair.generate(), job, outputHash);
    const { checks } = await verify(job, { output, receipt });
    expect(checks.find(({ name }) => name === 'delivery.receipt')).toMatchObject({
      verdict: 'fails',
      detail: expect.stringContaining('is no evidence'),
    });
  });

  it('is compared with what the worker proved and the controller signed', async () => {
    const job = jobs.settled.address;
    const { checks } = await verify(job, {
      output: Buffer.from(OUTPUT),
      receipt: scene.receipt(job),
    });
    const delivery = checks.filter(({ name }) => name.startsWith('delivery.'));
    expect(delivery.map(({ verdict }) => verdict)).toEqual([
      ...['holds', 'holds'],
      ...['not_applicable', 'not_applicable'],
    ]);
  });

  it('is reported as unchecked when the job has nothing to compare it with', async () => {
    const job = jobs.refunded.address;
    const client = { output: Buffer.from(OUTPUT), receipt: scene.receipt(job) };
    const { checks } = await verify(job, client);
    const unchecked = checks.filter(({ verdict }) => verdict === 'not_checkable');
    expect(unchecked.map(({ name }) => name)).toEqual(['delivery.output', 'delivery.receipt']);
    expect(conclude(checks)).toBe('not_checkable');
  });
});

describe('a job is found', () => {
  const locate = (named: string, wallet?: PublicKey) =>
    locateJob({ connection: scene.ledger.connection, addresses, named, wallet });

  it('by its id while its account lives', async () => {
    const { idBytes, address } = jobs.settled;
    expect(await locate(formatJobId(idBytes))).toEqual(address);
  });

  it('by its id and wallet when its account is closed', async () => {
    const { idBytes, address } = jobs.closed;
    const id = formatJobId(idBytes);
    await expect(locate(id)).rejects.toThrow('--wallet');
    expect(await locate(id, scene.service.wallet.publicKey)).toEqual(address);
  });

  it('by its address', async () => {
    const { address } = jobs.closed;
    expect(await locate(address.toBase58())).toEqual(address);
  });

  it.each([
    ['settled', 'JobSettled'],
    ['closed', 'JobCompleted'],
  ] as const)('by the signature of its settlement: %s', async (job, event) => {
    const { events } = await verify(jobs[job].address);
    const settled = events.find(({ name }) => name === event);
    expect(await locate(settled?.transaction.signature ?? '')).toEqual(jobs[job].address);
  });

  it('not by the signature of a transaction that changed several jobs', async () => {
    const { events } = await verify(jobs.settled.address);
    await expect(locate(events[0]?.transaction.signature ?? '')).rejects.toThrow('several jobs');
  });

  it('not by what is no id, address or signature', async () => {
    await expect(locate('job_1')).rejects.toThrow('neither');
  });
});
