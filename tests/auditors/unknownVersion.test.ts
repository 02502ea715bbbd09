import { describe, expect, it } from '@jest/globals';
import { connectLedger } from '../../programs/client/verify/connection/connectLedger.ts';
import { locateJob } from '../../programs/client/verify/job/locateJob.ts';
import { addresses } from '../../testing/ledger/jobScene.ts';
import { JOB_CASES, jobNamed, nodeNamed } from '../receipts/vectors/committed.ts';
import { JOB_NAMES, type JobName } from '../receipts/vectors/endedJobs.ts';
import { set } from '../receipts/vectors/fields.ts';
import {
  type Change,
  eventsOf,
  inEvent,
  inJson,
  type TransactionJson,
} from '../receipts/vectors/nodeChanges.ts';
import {
  answerFrom,
  connectSnapshot,
  jsonTransaction,
  type LedgerSnapshot,
  withChanges,
} from '../receipts/vectors/snapshot.ts';
import { asExpected, checksOf } from '../receipts/vectors/verdict.ts';

const LEGACY = nodeNamed('legacy');
/** What may be missing where the signed bytes are not known. */
const UNCERTAIN = [
  ...['history.signatures', 'history.calls', 'settlement.signer', 'dispute.amended'],
  'proof.signature',
];
const ANYBODY = ['JobRefunded', 'DisputeExpired', 'JobClosed'];

type Message = Partial<TransactionJson['transaction']['message']>;

/**
 * A node that says of transactions that they are of a version that does not exist.
 *
 * @param isMeant by default all of them
 * @param keep what it shows of their messages
 */
function connectUnknown(
  node: LedgerSnapshot,
  isMeant: (shown: object) => boolean = () => true,
  keep: (message: Message) => Message = (message) => message,
) {
  return connectLedger({
    async ask(method, parameters, read) {
      const shown = node.transactions[String(parameters[0])];
      if (method !== 'getTransaction' || !shown || !isMeant(shown)) {
        return read(answerFrom(node, method, parameters));
      }
      const { transaction, ...rest } = jsonTransaction(shown);
      const message = keep(transaction.message as never);
      return read({ ...rest, version: 7, transaction: { ...transaction, message } });
    },
  });
}

const having =
  (events: readonly string[]) =>
  (shown: object): boolean =>
    events.some((event) => eventsOf(shown, event).length > 0);

/** The verdicts that are not a plain `holds`. */
async function judge(connection: ReturnType<typeof connectUnknown>, job: { toBase58(): string }) {
  const checks = await checksOf(connection, job.toBase58());
  const detail = (name: string) => checks.find((check) => check.name === name)?.detail;
  return { ...asExpected(checks), detail };
}

const verify = (name: JobName, events: readonly string[], change: Change = (node) => node) =>
  judge(connectUnknown(change(LEGACY), having(events)), jobNamed(`legacy: ${name}`));

const CHECKED = { result: 'holds', failing: [], not_checkable: [] };

describe('a transaction of an unknown version', () => {
  it.each<[JobName, string]>([
    ['alone', 'JobProven'],
    ['refunded', 'JobRefunded'],
    ['expired', 'DisputeExpired'],
    ['closed', 'JobClosed'],
  ])('leaves a job checked where anybody may send it: %s', async (job, event) => {
    const found = await verify(job, [event]);
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
    expect(await verify(job, [event])).toMatchObject({
      result: 'not_checkable',
      failing: [],
      not_checkable: ['history.signatures', ...others],
    });
  });

  it('contradicts a settlement that says something else than its call', async () => {
    const another = inEvent(undefined, 'JobSettled', set({ counted_tokens: 400 }));
    expect((await verify('settled', ['JobSettled'], another)).failing).toContain(
      'settlement.signer',
    );
  });

  it('counts where it is not the job’s: at purchases and the registration', async () => {
    const others = ['CreditOpened', 'CreditBought', 'WorkerRegistered', 'StakeDeposited'];
    expect(await verify('settled', others)).toMatchObject(CHECKED);
  });

  it('still has to bear its name', async () => {
    const renamed = inJson(undefined, 'JobRefunded', ({ transaction: { signatures } }) => {
      signatures[0] = '1'.repeat(64);
    });
    const { failing } = await verify('refunded', ['JobRefunded'], renamed);
    expect(failing).toEqual(['history.signatures']);
  });

  it('leads to its job by its signature', async () => {
    const job = jobNamed('legacy: refunded');
    const [listed] = LEGACY.signatures[job.toBase58()] ?? [];
    const named = listed?.signature ?? '';
    expect(await locateJob({ connection: connectUnknown(LEGACY), addresses, named })).toEqual(job);
  });

  it.each([
    'mentioned, and proven by a stranger',
    'refunded by a stranger',
    'a dispute that a stranger let expire',
  ])('does no harm where a stranger sent it, in any form: %s', async (name) => {
    const ofRole = having([
      'JobLocked',
      'JobAcknowledged',
      'JobSettled',
      'JobCompleted',
      'JobDisputed',
    ]);
    const isEvent = having(['JobProven', 'JobRefunded', 'DisputeExpired', 'CreditBought']);
    for (const isMeant of [
      (shown: object) => !ofRole(shown),
      (shown: object) => !ofRole(shown) && !isEvent(shown),
    ]) {
      const node = connectUnknown(nodeNamed('strangers'), isMeant);
      expect(await judge(node, jobNamed(`strangers: ${name}`))).toMatchObject(CHECKED);
    }
  });
});

describe('a transaction of an unknown form', () => {
  const accountsAlone = ({ accountKeys }: Message) => ({ accountKeys: accountKeys ?? [] });
  const verifyAs = (name: JobName, event: string, keep: (message: Message) => Message) =>
    judge(connectUnknown(LEGACY, having([event]), keep), jobNamed(`legacy: ${name}`));
  const [proof, signer] = ['proof.signature', 'settlement.signer'];

  it.each<[JobName, string, string[]]>([
    ['settled', 'JobSettled', ['history.signatures', proof, signer]],
    ['completed', 'JobCompleted', ['history.signatures', proof, signer]],
    ['settled', 'JobLocked', ['history.signatures', 'lock.terms']],
    ['failed', 'JobFailed', ['history.signatures', 'history.calls']],
    ['unborne', 'JobDisputed', ['history.signatures', 'history.calls']],
    ['upheld', 'DisputeResolved', ['history.signatures', 'dispute.evidence']],
    ['repaid', 'DisputeResolved', ['history.signatures', 'dispute.evidence']],
  ])('shows by accounts and events what happened: %s, %s', async (job, event, unchecked) => {
    const found = await verifyAs(job, event, accountsAlone);
    expect(found).toMatchObject({
      ...{ result: 'not_checkable', failing: [], not_checkable: unchecked },
    });
  });

  it('leaves a gap where it shows no accounts', async () => {
    const { failing, not_checkable } = await verifyAs('settled', 'JobSettled', () => ({}));
    expect(failing).toEqual([]);
    expect(not_checkable).toContain('history.sequence');
  });
});

describe('a node that says that transactions are of an unknown version', () => {
  // A change that is recast as another has no call of its own.
  const RECAST = /^legacy: (pending|processing|settling|settled|disputed), /;
  const lies = JOB_CASES.flatMap(({ name, node, job, changes, expected }) =>
    node === 'legacy' && job && changes?.transactions && 'failing' in expected
      ? [{ name, job: { toBase58: () => job }, changes, fails: expected.failing }]
      : [],
  ).filter(({ name, fails }) => fails.length > 0 && !RECAST.test(name));

  const without = (names: readonly string[], unsure: readonly string[]) =>
    names.filter((one) => !unsure.includes(one));

  it('is caught in its lies as before', async () => {
    for (const { name, job, changes, fails } of lies) {
      const { result, failing } = await judge(connectUnknown(withChanges(LEGACY, changes)), job);
      expect([name, without(failing, UNCERTAIN)]).toEqual([name, without(fails, UNCERTAIN)]);
      expect([name, result]).not.toEqual([name, 'holds']);
    }
  });

  it('is caught as before in lies about what anybody may send', async () => {
    for (const { name, job, changes, fails } of lies) {
      const connection = connectUnknown(withChanges(LEGACY, changes), having(ANYBODY));
      const { failing } = await judge(connection, job);
      // What a refund did beside the job is the node's word then.
      const unsure = name.includes('refund') ? ['history.signatures'] : [];
      expect([name, without(failing, unsure)]).toEqual([name, without(fails, unsure)]);
    }
  });

  it.each(JOB_NAMES)('gains no more than by silence: %s', async (name) => {
    const found = await judge(connectUnknown(LEGACY), jobNamed(`legacy: ${name}`));
    expect(found).toMatchObject({ result: 'not_checkable', failing: [] });
  });
});

describe('a connection that puts a version into the form of another', () => {
  // web3.js 3.0.0-rc.2 makes a legacy message of every version above 0.
  it.each(['legacy', 'version 1'])('is no reason to accuse a signer: %s', async (name) => {
    const reader = connectSnapshot(nodeNamed(name));
    const connection = Object.assign(Object.create(reader), {
      async getTransaction(...asked: Parameters<typeof reader.getTransaction>) {
        const shown = await reader.getTransaction(...asked);
        const message: { version: unknown } | undefined = shown?.transaction.message;
        if (message) message.version = message.version === 'legacy' ? 0 : 'legacy';
        return shown;
      },
    });
    const { failing, not_checkable } = await judge(connection, jobNamed(`${name}: settled`));
    expect(failing).toEqual([]);
    expect(not_checkable).toEqual(['history.signatures', 'settlement.signer']);
  });
});
