import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair, LAMPORTS_PER_SOL, type PublicKey, SystemProgram } from '@solana/web3.js';
import { jobClose } from '../../programs/client/index.ts';
import { createForgedScene, type ForgedScene } from './forgedScene.ts';
import {
  decodeEvent,
  eventInstructions,
  forgeAccount,
  forgeEvent,
  inTransactionOf,
  set,
} from './forgeries/forge.ts';
import type { Forgery, ListedJson, TransactionJson } from './forgeries/node.ts';

let scene: ForgedScene;

beforeAll(async () => {
  scene = await createForgedScene();
});

afterAll(() => scene?.ledger.close());

describe('a node that omits evidence', () => {
  const hasEvent = (transaction: TransactionJson, name: string) =>
    eventInstructions(transaction, name).length > 0;

  it.each([
    { job: 'settled', hidden: 'JobLocked', unchecked: ['lock.price', 'settlement.charge'] },
    { job: 'settled', hidden: 'JobAcknowledged', unchecked: ['work.assignment'] },
    { job: 'settled', hidden: 'JobSettled', unchecked: ['proof.signature', 'settlement.share'] },
    { job: 'completed', hidden: 'JobCompleted', unchecked: ['proof.signature', 'proof.hash'] },
    { job: 'retried', hidden: 'JobAcknowledged', unchecked: [] },
    { job: 'alone', hidden: 'JobProven', unchecked: ['proof.signature', 'proof.hash'] },
    { job: 'expired', hidden: 'JobDisputed', unchecked: ['dispute.expired', 'deadline.disputed'] },
    { job: 'expired', hidden: 'DisputeExpired', unchecked: ['dispute.expired'] },
    { job: 'closed', hidden: 'JobClosed', unchecked: ['account.state', 'account.closed'] },
  ] as const)('cannot prove a job without its $hidden', async ({ job, hidden, unchecked }) => {
    const found = await scene.verify(scene.jobs[job], {
      transaction: (transaction) => (hasEvent(transaction, hidden) ? null : transaction),
    });
    expect({ result: found.result, fails: found.fails }).toEqual({
      result: 'not_checkable',
      fails: [],
    });
    expect(found.unchecked).toEqual(expect.arrayContaining(['history.sequence', ...unchecked]));
  });

  it('cannot present the first worker of a job as its last', async () => {
    const found = await scene.verify(scene.jobs.reassigned, {
      transaction: (transaction) =>
        eventInstructions(transaction, 'JobAcknowledged').some(
          (instruction) => decodeEvent(instruction)?.data.attempt === 2,
        )
          ? null
          : transaction,
    });
    expect({ result: found.result, fails: found.fails }).toEqual({
      result: 'not_checkable',
      fails: [],
    });
    expect(found.unchecked).toContain('work.assignment');
  });

  it('cannot omit a transaction from its list either', async () => {
    const { result, unchecked } = await scene.verify(scene.jobs.settled, {
      listing: ([newest, ...older], address) =>
        newest && address !== scene.jobs.settled.toBase58() ? [newest, ...older] : older,
    });
    expect(result).toBe('not_checkable');
    expect(unchecked).toContain('settlement.worker_payment');
  });

  it('cannot prove a job without its account', async () => {
    const { result, unchecked } = await scene.verify(scene.jobs.settled, {
      account: (_account, address) =>
        address === scene.jobs.settled.toBase58() ? null : undefined,
    });
    expect(result).toBe('not_checkable');
    expect(unchecked).toEqual(expect.arrayContaining(['history.sequence', 'account.state']));
  });

  it.each(['settled', 'completed', 'upheld'] as const)(
    "cannot prove a job without the worker's account: %s",
    async (job) => {
      const authority = scene.service.workerAuthority.publicKey.toBase58();
      const { result, fails, unchecked } = await scene.verify(scene.jobs[job], {
        listing: (listing, address) => (address === authority ? [] : listing),
      });
      // Of a verdict's two proofs it is known that one key signed both.
      expect({ result, fails, unchecked }).toEqual({
        result: 'not_checkable',
        fails: [],
        unchecked: ['proof.key', 'settlement.worker_payment'],
      });
    },
  );

  it('cannot prove balances without the balances before', async () => {
    const creditAccount = scene.service.creditAccount.toBase58();
    const { result, unchecked } = await scene.verify(scene.jobs.settled, {
      listing: (listing, address) => (address === creditAccount ? [] : listing),
    });
    expect({ result, unchecked }).toEqual({
      result: 'not_checkable',
      unchecked: ['lock.balances', 'settlement.balances'],
    });
  });

  it.each([
    ['settled', 'JobSettled'],
    ['completed', 'JobCompleted'],
  ] as const)("cannot replace an event by another program's: %s", async (job, name) => {
    const found = await scene.verify(
      scene.jobs[job],
      inTransactionOf(name, (transaction) => {
        for (const event of eventInstructions(transaction, name)) event.programIdIndex = 0;
      }),
    );
    expect(found.fails).toEqual(['history.authenticity']);
    expect(found.unchecked).toContain('settlement.charge');
  });
});

describe('a node that is behind', () => {
  const older = (): Forgery => forgeAccount(scene.jobs.settled, 'Job', set('sequence', 3));

  it('is asked again until the account matches its history', async () => {
    let readings = 0;
    const { account = () => undefined } = older();
    const { result } = await scene.verify(scene.jobs.settled, {
      account: (...asked) =>
        asked[1] === scene.jobs.settled.toBase58() && readings++ === 0
          ? account(...asked)
          : undefined,
    });
    expect(readings).toBe(2);
    expect(result).toBe('holds');
  });

  it('contradicts nothing and proves nothing', async () => {
    const found = await scene.verify(scene.jobs.settled, older());
    expect({ result: found.result, fails: found.fails }).toEqual({
      result: 'not_checkable',
      fails: [],
    });
    expect(found.unchecked).toEqual(expect.arrayContaining(['history.sequence', 'account.state']));
  });
});

describe('a worker with changes that cannot all be read', () => {
  it('is not accused of a wrong proof key', async () => {
    const strange = base58.encode(Buffer.alloc(64, 9));
    const authority = scene.service.workerAuthority.publicKey.toBase58();
    const otherKey = set('proof_key', Keypair.generate().publicKey);
    const forgery: Forgery = {
      ...forgeEvent('WorkerRegistered', otherKey),
      ...forgeAccount(scene.service.worker, 'Worker', otherKey),
    };
    expect((await scene.verify(scene.jobs.settled, forgery)).fails).toEqual(['proof.key']);
    const { fails, unchecked } = await scene.verify(scene.jobs.settled, {
      ...forgery,
      listing: (listing, address) =>
        address === authority && listing.length > 0
          ? [{ ...listing.at(-1), signature: strange } as ListedJson, ...listing]
          : listing,
      refusal: (signature) =>
        signature === strange
          ? { code: -32_015, message: 'Transaction version (1) is not supported' }
          : undefined,
    });
    expect({ fails, unchecked }).toEqual({ fails: [], unchecked: ['proof.key'] });
  });
});

describe('another account', () => {
  it('can send lamports along with a close, without effect', async () => {
    const stranger = Keypair.generate();
    await scene.ledger.fundLamports(stranger.publicKey, LAMPORTS_PER_SOL);
    const job = scene.jobs.failed;
    const rentPayer = scene.service.operator.authority.publicKey;
    const give = (toPubkey: PublicKey, lamports: number) =>
      SystemProgram.transfer({ fromPubkey: stranger.publicKey, toPubkey, lamports });
    await scene.send(
      [give(job, 7), jobClose({ job, rentPayer }), give(rentPayer, 7), give(job, 1_000_000)],
      [stranger],
    );
    expect(await scene.verify(job, {})).toMatchObject({ result: 'holds', fails: [] });
  });

  it('can imitate events, without effect', async () => {
    const { result, detail } = await scene.verify(
      scene.jobs.settled,
      inTransactionOf('JobAcknowledged', ({ meta }) => {
        const [inner] = meta.innerInstructions;
        const [event] = inner?.instructions ?? [];
        if (event) inner?.instructions.push({ ...event, programIdIndex: 0 });
      }),
    );
    expect(result).toBe('holds');
    expect(detail('history.authenticity')).toContain('Ignored imitations: 1.');
  });

  it('can mention the job in a transaction of an unknown version', async () => {
    const strange = base58.encode(Buffer.alloc(64, 7));
    const { result, detail } = await scene.verify(scene.jobs.settled, {
      listing: (listing, address) =>
        address === scene.jobs.settled.toBase58() && listing[0]
          ? [{ ...listing[0], signature: strange }, ...listing]
          : listing,
      refusal: (signature) =>
        signature === strange
          ? { code: -32_015, message: 'Transaction version (1) is not supported' }
          : undefined,
    });
    expect(result).toBe('holds');
    expect(detail('history.sequence')).toContain('Unread, but without effect on the job: 1.');
  });
});
