import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PublicKey, SystemProgram } from '@solana/web3.js';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import { gatherEvidence } from '../../programs/client/verify/job/gatherEvidence.ts';
import { locateJob } from '../../programs/client/verify/job/locateJob.ts';
import { addresses } from '../../testing/ledger/jobScene.ts';
import { findingsOf } from './findings.ts';
import { createForgedScene, type ForgedScene, JOB_NAMES, type JobName } from './forgedScene.ts';
import { FORGERIES } from './forgeries/all.ts';
import {
  eventInstructions,
  flipByte,
  forgeEvent,
  inTransactionOf,
  ofUnknownVersion,
  set,
} from './forgeries/forge.ts';
import type { TransactionJson } from './forgeries/node.ts';

/** What may be missing where the signed bytes are not known. */
const UNCERTAIN = ['history.signatures', 'settlement.signer', 'dispute.amended', 'proof.signature'];
const ANYBODY = ['JobRefunded', 'DisputeExpired', 'JobClosed'];

let scene: ForgedScene;

beforeAll(async () => {
  scene = await createForgedScene();
});

afterAll(() => scene?.ledger.close());

/** The verdicts that are not a plain `holds`. */
async function verify(job: JobName, ...forged: Parameters<ForgedScene['verify']>[1][]) {
  const found = await scene.verify(scene.jobs[job], Object.assign({}, ...forged));
  const { result, fails, unchecked } = found;
  return { result, fails, unchecked: unchecked.toSorted(), detail: found.detail };
}

const CHECKED = { result: 'holds', fails: [], unchecked: [] };

describe('a transaction of an unknown version', () => {
  it.each<[JobName, string]>([
    ['alone', 'JobProven'],
    ['refunded', 'JobRefunded'],
    ['expired', 'DisputeExpired'],
    ['closed', 'JobClosed'],
  ])('leaves a job checked where anybody may send it: %s', async (job, event) => {
    const found = await verify(job, ofUnknownVersion([event]));
    expect(found).toMatchObject(CHECKED);
    expect(found.detail('history.signatures')).toContain('signed bytes are not known: 1.');
  });

  it.each<[JobName, string, string[]]>([
    ['settled', 'JobLocked', []],
    ['settled', 'JobAcknowledged', []],
    ['settled', 'JobSettled', ['settlement.signer']],
    ['completed', 'JobCompleted', ['settlement.signer']],
    ['failed', 'JobFailed', []],
    ['expired', 'JobDisputed', []],
    ['expired', 'DisputeAmended', ['dispute.amended']],
    ['upheld', 'DisputeResolved', []],
  ])('leaves open who signed it where it takes a role: %s, %s', async (job, event, others) => {
    expect(await verify(job, ofUnknownVersion([event]))).toMatchObject({
      result: 'not_checkable',
      fails: [],
      unchecked: ['history.signatures', ...others].toSorted(),
    });
  });

  it('contradicts a settlement that says something else than its call', async () => {
    const another = forgeEvent('JobSettled', set('counted_tokens', 400));
    const found = await verify('settled', ofUnknownVersion(['JobSettled'], another));
    expect(found.fails).toContain('settlement.signer');
  });

  it('counts where it is not the job’s: at purchases and the registration', async () => {
    const others = ['CreditOpened', 'CreditBought', 'WorkerRegistered', 'StakeDeposited'];
    expect(await verify('settled', ofUnknownVersion(others))).toMatchObject(CHECKED);
  });

  it('still has to bear its name', async () => {
    const renamed = inTransactionOf('JobRefunded', ({ transaction }) => {
      const [first = '', ...rest] = transaction.signatures;
      transaction.signatures = [flipByte(first, 0), ...rest];
    });
    const forgery = ofUnknownVersion(['JobRefunded'], renamed);
    expect((await verify('refunded', forgery)).fails).toEqual(['history.signatures']);
  });

  it('leads to its job by its signature', async () => {
    const job = scene.jobs.refunded;
    const [{ signature } = { signature: '' }] =
      await scene.ledger.connection.getSignaturesForAddress(job);
    const connection = scene.node.reader(ofUnknownVersion());
    expect(await locateJob({ connection, addresses, named: signature })).toEqual(job);
  });
});

describe('a transaction of an unknown form', () => {
  const messageOf = (
    keep: (message: TransactionJson['transaction']['message']) => object,
    event = 'JobSettled',
  ) =>
    ofUnknownVersion([event], {
      transaction: (transaction) => {
        const { message } = transaction.transaction;
        if (eventInstructions(transaction, event).length > 0)
          Object.assign(transaction.transaction, { message: keep(message) });
        return transaction;
      },
    });

  it.each([
    ['settled', 'JobSettled'],
    ['completed', 'JobCompleted'],
  ] as const)('shows by its accounts and its calls what happened: %s', async (job, event) => {
    const forgery = messageOf(({ accountKeys }) => ({ accountKeys }), event);
    expect(await verify(job, forgery)).toMatchObject({
      result: 'not_checkable',
      fails: [],
      unchecked: ['history.signatures', 'proof.signature', 'settlement.signer'],
    });
  });

  it.each(['upheld', 'repaid'] as const)(
    'leaves open on which evidence a verdict rests: %s',
    async (job) => {
      const forgery = messageOf(({ accountKeys }) => ({ accountKeys }), 'DisputeResolved');
      expect(await verify(job, forgery)).toMatchObject({
        fails: [],
        unchecked: ['dispute.evidence', 'history.signatures'],
      });
    },
  );

  it('leaves a gap where it shows no accounts', async () => {
    const { fails, unchecked } = await verify(
      'settled',
      messageOf(() => ({})),
    );
    expect(fails).toEqual([]);
    expect(unchecked).toContain('history.sequence');
  });
});

describe("a stranger's mention of a job", () => {
  let mention: string;
  beforeAll(async () => {
    const { publicKey } = scene.ledger.payer;
    const gift = SystemProgram.transfer({
      fromPubkey: publicKey,
      toPubkey: publicKey,
      lamports: 1,
    });
    gift.keys.push({ pubkey: scene.jobs.settled, isSigner: false, isWritable: false });
    await scene.send([gift], []);
    const [newest] = await scene.ledger.connection.getSignaturesForAddress(scene.jobs.settled);
    mention = newest?.signature ?? '';
  });

  it.each<[string, object]>([
    ['of an unknown version', {}],
    ['of an unknown form', { message: {} }],
  ])('does no harm, %s', async (_what, change) => {
    const forgery = ofUnknownVersion(undefined, {
      transaction(transaction) {
        const isIt = transaction.transaction.signatures[0] === mention;
        return isIt
          ? { ...transaction, transaction: { ...transaction.transaction, ...change } }
          : transaction;
      },
    });
    const only = {
      transaction: (transaction: TransactionJson) =>
        transaction.transaction.signatures[0] === mention
          ? forgery.transaction?.(transaction)
          : transaction,
    };
    expect(await verify('settled', only)).toMatchObject(CHECKED);
  });
});

describe('a node that says that transactions are of an unknown version', () => {
  it.each(FORGERIES)('is detected as before: $what', async ({ job, forgery, fails }) => {
    const found = await verify(job, ofUnknownVersion(undefined, forgery(scene.jobs)));
    const certain = (names: readonly string[]) => names.filter((name) => !UNCERTAIN.includes(name));
    expect(certain(found.fails)).toEqual(certain(fails));
    expect(found.result).not.toBe('holds');
  });

  it.each(FORGERIES)('of what anybody may send, too: $what', async ({ job, forgery, fails }) => {
    const found = await verify(job, ofUnknownVersion(ANYBODY, forgery(scene.jobs)));
    // What a refund did beside the job is the node's word then.
    const uncertain = job === 'refunded' ? ['history.signatures'] : [];
    expect(found.fails).toEqual(fails.filter((name) => !uncertain.includes(name)));
  });

  it.each(JOB_NAMES)('gains no more than by silence: %s', async (job) => {
    expect(await verify(job, ofUnknownVersion())).toMatchObject({
      result: 'not_checkable',
      fails: [],
    });
  });
});

describe('a connection that puts a version into the form of another', () => {
  /** web3.js 3.0.0-rc.2 makes a legacy message of every version above 0. */
  function misread(reader: LedgerConnection): LedgerConnection {
    const getTransaction = async (signature: string, config: never) => {
      const shown = await reader.getTransaction(signature, config);
      const message: { version: unknown } | undefined = shown?.transaction.message;
      const version = message?.version === 0 ? 'legacy' : 0;
      if (message) Object.assign(message, { version });
      return shown;
    };
    return Object.assign(Object.create(reader), { getTransaction });
  }

  it('is no reason to accuse a signer', async () => {
    const job: PublicKey = scene.jobs.settled;
    const connection = misread(scene.node.reader({}));
    const wait = async () => {};
    const evidence = await gatherEvidence({ connection, addresses, job, wait });
    const { fails, unchecked } = findingsOf(evidence);
    expect({ fails, unchecked }).toEqual({
      fails: [],
      unchecked: ['history.signatures', 'settlement.signer'],
    });
  });
});
