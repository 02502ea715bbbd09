import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import {
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
import { REQUEST } from '../../testing/kit/jobInstructions.ts';
import { HOSTILE_SIGNER } from '../../testing/ledger/hostileCaller.ts';
import { addresses } from '../../testing/ledger/jobScene.ts';
import { jobNamed, nodeNamed } from '../receipts/vectors/committed.ts';
import { createEndedJobs, type EndedJobs, type JobName } from '../receipts/vectors/endedJobs.ts';
import { connectSnapshot } from '../receipts/vectors/snapshot.ts';

let scene: EndedJobs;
beforeAll(async () => {
  scene = await createEndedJobs({ version: 0 });
});
afterAll(() => scene?.ledger.close());

async function verify(name: JobName, client: ClientEvidence = {}) {
  const { connection } = scene.ledger;
  return verifyJob(await gatherEvidence({ connection, addresses, job: scene.jobs[name] }), client);
}

const ALWAYS = [
  ...['history.signatures', 'history.authenticity', 'history.sequence', 'history.states'],
  'history.calls',
  ...['lock.address', 'lock.price', 'lock.terms', 'lock.balances'],
];
const PAID = [
  ...['work.attempts', 'deadline.acknowledged', 'work.assignment'],
  ...['proof.signature', 'proof.key', 'proof.hash', 'settlement.signer'],
  ...['settlement.charge', 'settlement.share', 'settlement.balances'],
  ...['settlement.worker_payment', 'settlement.treasury_payment', 'settlement.tokens'],
  ...['deadline.proven', 'deadline.settled'],
];
const SETTLED = [...PAID, 'account.state'];
const DISPUTED = [...SETTLED, 'dispute.opened', 'deadline.disputed'];
const RESOLVED = [...DISPUTED, 'dispute.evidence', 'dispute.resolved', 'deadline.resolved'];
const RETURNED = ['failure.returned', 'failure.balances', 'deadline.failed', 'account.state'];
const REFUNDED = ['refund.returned', 'refund.balances', 'deadline.refunded', 'account.state'];
const EXPIRED = [
  ...[...DISPUTED, 'dispute.amended', 'deadline.amended'],
  ...['dispute.expired', 'deadline.expired'],
];

describe('a job in order', () => {
  it.each<[JobName, status: string, charged: bigint, holding: readonly string[]]>([
    ['settled', 'settled', 3n, SETTLED],
    ['long', 'settled', 36n, SETTLED],
    ['reassigned', 'settled', 3n, SETTLED],
    ['claimable', 'settled', 3n, SETTLED],
    ['completed', 'settled', 3n, SETTLED],
    ['retried', 'settled', 3n, SETTLED],
    ['closed', 'settled', 3n, [...PAID, 'account.closed']],
    ['failed', 'failed', 0n, RETURNED],
    ['refunded', 'refunded', 0n, REFUNDED],
    ['repaid', 'refunded', 0n, RESOLVED],
    ['upheld', 'refunded', 0n, RESOLVED],
    ['upheldAgain', 'refunded', 0n, RESOLVED],
    // The treasury's share of three credits is no whole one.
    ['unborne', 'refunded', 3n, RESOLVED],
    ['expired', 'settled', 3n, EXPIRED],
    ['open', 'pending', 0n, ['deadline.open', 'account.state']],
  ])(
    '%s: every rule that applies holds [jobs.ledger-record]',
    async (name, status, charged, holding) => {
      const { job, checks } = await verify(name);
      const others = checks.filter(
        ({ verdict }) => verdict === 'fails' || verdict === 'not_checkable',
      );
      expect(others).toEqual([]);
      const held = checks.filter(({ verdict }) => verdict === 'holds');
      expect(held.map((check) => check.name).sort()).toEqual([...ALWAYS, ...holding].sort());
      expect(conclude(checks)).toBe('holds');
      const { model } = scene.service;
      expect(job).toMatchObject({ status, credits_charged: charged, model: model.id });
    },
  );

  it('has the worker of its only attempt, and of its last one', async () => {
    const worker = scene.service.worker.toBase58();
    for (const [name, attempts] of [
      ['completed', `Attempt 1: ${worker}.`],
      ['retried', `Attempt 1: ${worker}, 2: ${worker}.`],
    ] as const) {
      const { job, checks } = await verify(name);
      expect(job.worker).toBe(worker);
      expect(checks.find((check) => check.name === 'work.attempts')?.detail).toBe(attempts);
    }
  });

  it('reports pay that cannot be paid as claimable', async () => {
    const { checks } = await verify('claimable');
    const payment = checks.find(({ name }) => name === 'settlement.worker_payment');
    expect(payment?.detail).toBe(
      'Not payable then: 25500 base units, of 25500 claimable by the worker.',
    );
  });
});

describe('a receipt for another text than the proven one', () => {
  const output = Buffer.from('another answer');
  /** What is said of it, if this key signed it. */
  async function receiptBy(signer: Keypair) {
    const outputHash = createHash('sha256').update(output).digest();
    const job = scene.jobs.settled;
    const delivered = { outputHash, statement: REQUEST };
    const message = receiptMessage({ programId: PROGRAM_ID, job, ...delivered });
    const receipt = formatReceipt(signer.publicKey, signHashed(message, signer));
    const { checks } = await verify('settled', { output, receipt });
    return checks.find(({ name }) => name === 'delivery.receipt');
  }

  it('convicts its signer [disputes.evidence]', async () => {
    expect(await receiptBy(scene.service.hotSigner)).toMatchObject({
      verdict: 'fails',
      detail: expect.stringContaining(
        'signed that the given answer was delivered, and not the proven',
      ),
    });
  });

  it('convicts neither party where another key signed it', async () => {
    expect(await receiptBy(Keypair.generate())).toMatchObject({
      verdict: 'fails',
      detail: expect.stringContaining('is no evidence'),
    });
  });
});

describe('a job is found by a transaction', () => {
  /** @param at which of the job's transactions, of which 0 is the newest */
  const locate = (name: string, wallet?: PublicKey, at = 0) => {
    const node = nodeNamed(name.split(':')[0] ?? '');
    const named = node.signatures[jobNamed(name).toBase58()]?.at(at)?.signature ?? '';
    return locateJob({ connection: connectSnapshot(node), addresses, named, wallet });
  };

  it.each(['settled', 'failed', 'expired', 'closed'])('of its own: %s', async (name) => {
    expect(await locate(`legacy: ${name}`)).toEqual(jobNamed(`legacy: ${name}`));
  });

  it('of several, where it is its wallet’s only one', async () => {
    const own = 'program: refunded with a job of another wallet';
    const other = 'program: refunded with a job of a program’s address';
    expect(await locate(own, HOSTILE_SIGNER)).toEqual(jobNamed(own));
    await expect(locate(own)).rejects.toThrow('several jobs');
    await expect(locate(other, Keypair.generate().publicKey)).rejects.toThrow('several jobs');
    await expect(locate('legacy: settled', undefined, -1)).rejects.toThrow('several jobs');
  });
});
