import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { decodeTransaction } from '../../indexer/fold/event.ts';
import { isClean, reconcile } from '../../indexer/reconcile/reconcile.ts';
import { connectNode } from '../../indexer/source/node.ts';
import { createLedgerSource } from '../../indexer/source/source.ts';
import { digestTables } from '../../indexer/sql/digest.ts';
import { type ExecutedTransaction, PROGRAM_ID } from '../../programs/client/index.ts';
import { getTransaction } from '../../programs/client/rpc/methods.ts';
import type { LedgerNode } from '../../programs/client/rpc/rpc.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { readHistory } from '../../testing/indexer/scene.ts';
import { makeHistory } from '../../testing/ledger/history.ts';
import { addresses, createJobScene, type JobScene } from '../../testing/ledger/jobScene.ts';

/** All of its transactions are of version 1. */
let scene: JobScene;
const mirrors: MirrorDatabase[] = [];
/** A transaction with one event, as the ledger shows it. */
let shown: ExecutedTransaction & { meta: NonNullable<ExecutedTransaction['meta']> };

beforeAll(async () => {
  scene = await createJobScene({ version: 1 });
  await makeHistory(scene);
  // A purchase leaves open what the vault held in its second: that second has to pass.
  await scene.wait(1);
  const history = await readHistory(sourceOf(honestNode()));
  const one = history.find(({ events }) => events.length === 1);
  const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 1 } as const;
  shown = (await getTransaction(scene.ledger.rpc, String(one?.signature), options)) as typeof shown;
});

afterAll(async () => {
  for (const mirror of mirrors) await mirror.close();
  await scene?.ledger.close();
});

const sourceOf = (node: LedgerNode) => createLedgerSource({ node, programId: PROGRAM_ID });

/** A node that says of each transaction that it is of version 7, and shows only the accounts of it. */
function laterNode(): LedgerNode {
  const node = honestNode();
  return {
    ask: (method, parameters, read) =>
      node.ask(method, parameters, (result) => {
        if (method !== 'getTransaction') return read(result);
        const { maxSupportedTransactionVersion } = parameters[1] as Record<string, number>;
        expect(maxSupportedTransactionVersion).toBeGreaterThanOrEqual(7);
        const executed = structuredClone(result) as { transaction: { message: object } };
        const { accountKeys } = executed.transaction.message as { accountKeys: string[] };
        executed.transaction.message = { accountKeys };
        return read({ ...executed, version: 7 });
      }),
  };
}

const honestNode = () => connectNode({ url: scene.ledger.rpcUrl });

async function mirrorOf(node: LedgerNode): Promise<MirrorDatabase> {
  const mirror = await createMirrorDatabase();
  mirrors.push(mirror);
  await mirror.apply(await readHistory(sourceOf(node)));
  return mirror;
}

describe('the mirror', () => {
  it('is the same, and agrees with the accounts, in version 1 and unknown ones', async () => {
    const [first, seventh] = [await mirrorOf(honestNode()), await mirrorOf(laterNode())];
    expect(await digestTables(seventh.pool)).toEqual(await digestTables(first.pool));
    const { rows } = await first.pool.query('select status from jobs order by status');
    expect(rows.map(({ status }) => status)).toEqual(['refunded', 'settled', 'settled']);
    for (const mirror of [first, seventh]) {
      const result = await reconcile({
        ...{ database: mirror.pool, connection: scene.ledger.connection, addresses },
        wait: async () => {},
      });
      expect(result.differences).toEqual([]);
      expect(isClean(result)).toBe(true);
    }
  });
});

function eventInstruction({ meta }: typeof shown) {
  const found = meta.innerInstructions?.flatMap(({ instructions }) => instructions).at(-1);
  if (!found) throw new Error('it has an event');
  return found;
}

function decode(executed: ExecutedTransaction) {
  return decodeTransaction({ signature: 'signature', slot: 1n }, executed, PROGRAM_ID).events;
}

describe('an event', () => {
  it('is decoded when the program emitted it', () => {
    expect(decode(shown)).toHaveLength(1);
  });

  it('is not decoded from an inner instruction of another program', () => {
    const forged = structuredClone(shown);
    Object.assign(eventInstruction(forged), { programIdIndex: 0 });
    expect(decode(forged)).toEqual([]);
  });

  it('is not decoded from a call without its event authority’s signature', () => {
    const forged = structuredClone(shown);
    Object.assign(eventInstruction(forged), { accounts: [0] });
    expect(decode(forged)).toEqual([]);
  });

  it('is not missed in a message whose form is not known', () => {
    const transaction = { message: {} };
    const tagged = structuredClone({ ...shown, transaction });
    expect(() => decode(tagged)).toThrow('the accounts of the transaction are missing');
    const untagged = structuredClone(tagged);
    Object.assign(eventInstruction(untagged), { data: base58.encode(Buffer.from('no event')) });
    expect(decode(untagged)).toEqual([]);
  });

  it('is not decoded from a failed transaction', () => {
    const failed = { ...shown, meta: { ...shown.meta, err: { InstructionError: [0, 'Custom'] } } };
    expect(decode(failed)).toEqual([]);
  });
});
