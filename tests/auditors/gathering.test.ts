import { describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import type { PublicKey } from '@solana/web3.js';
import { connectLedger } from '../../programs/client/verify/connection/connectLedger.ts';
import { gatherEvidence } from '../../programs/client/verify/job/gatherEvidence.ts';
import { listSuccessful } from '../../programs/client/verify/job/ledgerReader.ts';
import { verifyJob } from '../../programs/client/verify/job/verifyJob.ts';
import { addresses } from '../../testing/ledger/jobScene.ts';
import { jobNamed, nodeNamed } from '../receipts/vectors/committed.ts';
import { set } from '../receipts/vectors/fields.ts';
import { anyEvent, type Change, eventsOf, inAccount } from '../receipts/vectors/nodeChanges.ts';
import {
  answerFrom,
  type LedgerSnapshot,
  type SnapshotTransaction,
  withChanges,
} from '../receipts/vectors/snapshot.ts';
import { asExpected } from '../receipts/vectors/verdict.ts';

/** Enough that they are read several at once. */
const MENTIONS = 20;
const LEGACY = nodeNamed('legacy');
const job = jobNamed('legacy: settled');
const { credit_account } = anyEvent(LEGACY, 'JobLocked', job) as { credit_account: PublicKey };
const { authority } = anyEvent(LEGACY, 'WorkerRegistered') as { authority: PublicKey };
const slotOf = (event: string) => Number(anyEvent(LEGACY, event, job).slot);

/** What a verification finds, and which transactions it asks for. */
async function verify(node: LedgerSnapshot, historyMax: number, nodes = [node]) {
  const asked: string[] = [];
  let readings = 0;
  const connection = connectLedger({
    async ask(method, parameters, read) {
      if (method === 'getTransaction') asked.push(String(parameters[0]));
      const isAccount = method === 'getAccountInfo' && parameters[0] === job.toBase58();
      const shown = nodes[isAccount ? readings++ : 0] ?? node;
      return read(answerFrom(shown, method, parameters));
    },
  });
  const wait = async () => {};
  const { checks } = verifyJob(
    await gatherEvidence({ connection, addresses, job, historyMax, wait }),
  );
  return { asked, readings, ...asExpected(checks) };
}

/** Names of transactions that are copies of one. */
const namesOf = (kind: number, count: number): string[] =>
  Array.from({ length: count }, (_, at) => base58.encode(Buffer.alloc(64, `${kind}-${at}-`)));

/** Shows copies of a transaction in lists, in this slot. */
const copied =
  (
    shown: SnapshotTransaction,
    slot: number,
    names: readonly string[],
    lists: PublicKey[],
  ): Change =>
  (node) => {
    const rows = names.map((signature) => ({ signature, slot, err: null }));
    const listed = (list: PublicKey) => [...(node.signatures[list.toBase58()] ?? []), ...rows];
    return withChanges(node, {
      transactions: Object.fromEntries(names.map((name) => [name, { ...shown, slot }])),
      signatures: Object.fromEntries(
        lists.map((list) => [
          list.toBase58(),
          listed(list).toSorted((one, other) => other.slot - one.slot),
        ]),
      ),
    });
  };

/** The transaction that has an event, without that. */
function silent(event: string): SnapshotTransaction {
  const shown = Object.values(LEGACY.transactions).find(
    (one) => one && eventsOf(one, event).length > 0,
  );
  if (!shown) throw new Error(`no transaction has a ${event}`);
  return { ...shown, meta: { ...shown.meta, innerInstructions: [] } };
}

describe("an account that strangers' transactions mention again and again", () => {
  const mention = silent('JobRefunded');
  const lists = [credit_account, authority];
  const [earlier, between, later] = [1, 2, 3].map((kind) => namesOf(kind, MENTIONS)) as [
    ...[string[], string[], string[]],
  ];
  const node = [
    copied(mention, slotOf('JobLocked') - 1, earlier, lists),
    copied(mention, slotOf('JobAcknowledged'), between, lists),
    copied(mention, slotOf('JobSettled') + 1, later, lists),
  ].reduce((shown, change) => change(shown), LEGACY);

  it('is verified without reading what came after the job', async () => {
    const { asked, ...found } = await verify(node, 1);
    expect(found).toMatchObject({ result: 'holds', not_checkable: [] });
    expect(asked.filter((signature) => later.includes(signature))).toEqual([]);
  });
});

describe('a worker that signs many transactions', () => {
  it('can be verified with a longer history', async () => {
    const names = namesOf(4, 3);
    const node = copied(silent('WorkerRegistered'), slotOf('JobLocked'), names, [authority])(
      LEGACY,
    );
    const not_checkable = ['proof.key', 'settlement.worker_payment'];
    expect(await verify(node, 3)).toMatchObject({ result: 'not_checkable', not_checkable });
    expect(await verify(node, 4)).toMatchObject({ result: 'holds', not_checkable: [] });
  });
});

describe('a node that is behind', () => {
  it('is asked again until the account matches its history', async () => {
    const behind = inAccount(job, 'Job', set({ sequence: 3 }))(LEGACY);
    const { readings, result } = await verify(LEGACY, 1_000, [behind, LEGACY]);
    expect({ readings, result }).toEqual({ readings: 2, result: 'holds' });
  });
});

describe('a history that is read', () => {
  it('has the transactions of a slot in the order of its block', async () => {
    const rows = [1, 3, 2].map((transactionIndex) => ({
      ...{ signature: `${transactionIndex}`, slot: 7, err: null, transactionIndex },
    }));
    const pages: unknown[] = [rows, []];
    const connection = connectLedger({
      ask: async (_method, _params, read) => read(pages.shift()),
    });
    const listed: string[] = [];
    for await (const { signature } of listSuccessful(connection, job)) listed.push(signature);
    expect(listed).toEqual(['3', '2', '1']);
  });
});
