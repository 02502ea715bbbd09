import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isClean, reconcile } from '../../indexer/reconcile/reconcile.ts';
import { connectNode } from '../../indexer/source/node.ts';
import { createLedgerSource } from '../../indexer/source/source.ts';
import { digestTables } from '../../indexer/sql/digest.ts';
import { PROGRAM_ID } from '../../programs/client/index.ts';
import type { LedgerNode } from '../../programs/client/rpc/rpc.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { readHistory } from '../../testing/indexer/scene.ts';
import { makeHistory } from '../../testing/ledger/history.ts';
import { addresses, createJobScene, type JobScene } from '../../testing/ledger/jobScene.ts';

/** All of its transactions are of version 1. */
let scene: JobScene;
const mirrors: MirrorDatabase[] = [];

beforeAll(async () => {
  scene = await createJobScene({ version: 1 });
  await makeHistory(scene);
  // A purchase leaves open what the vault held in its second: that second has to pass.
  await scene.wait(1);
});

afterAll(async () => {
  for (const mirror of mirrors) await mirror.close();
  await scene?.ledger.close();
});

interface Shown {
  version: number | 'legacy';
  transaction: { message: { accountKeys: string[] } };
  meta: { innerInstructions: { instructions: { programIdIndex: number }[] }[] };
}

/** A node that says of every transaction that it is of version 7, and shows of it what `change` leaves. */
function nodeOf(change: (shown: Shown) => void): LedgerNode {
  const node = honestNode();
  return {
    ask: (method, parameters, read) =>
      node.ask(method, parameters, (result) => {
        if (method !== 'getTransaction') return read(result);
        const { maxSupportedTransactionVersion } = parameters[1] as Record<string, number>;
        expect(maxSupportedTransactionVersion).toBeGreaterThanOrEqual(7);
        const shown = structuredClone(result) as Shown;
        change(shown);
        return read({ ...shown, version: 7 });
      }),
  };
}

const honestNode = () => connectNode({ url: scene.ledger.rpcUrl });

async function mirrorOf(node: LedgerNode): Promise<MirrorDatabase> {
  const mirror = await createMirrorDatabase();
  mirrors.push(mirror);
  await mirror.apply(await readHistory(createLedgerSource({ node, programId: PROGRAM_ID })));
  return mirror;
}

const differencesOf = ({ pool: database }: MirrorDatabase) =>
  reconcile({
    ...{ database, connection: scene.ledger.connection, addresses },
    wait: async () => {},
  });

/** A message of which nothing but its accounts is known. */
function onlyAccounts({ transaction }: Shown): void {
  transaction.message = { accountKeys: transaction.message.accountKeys };
}

describe('the mirror', () => {
  it('is the same, and agrees with the accounts, in version 1 and unknown ones', async () => {
    const [first, seventh] = [await mirrorOf(honestNode()), await mirrorOf(nodeOf(onlyAccounts))];
    expect(await digestTables(seventh.pool)).toEqual(await digestTables(first.pool));
    const { rows } = await first.pool.query('select status from jobs order by status');
    expect(rows.map(({ status }) => status)).toEqual(['refunded', 'settled', 'settled']);
    for (const mirror of [first, seventh]) {
      const result = await differencesOf(mirror);
      expect(result.differences).toEqual([]);
      expect(isClean(result)).toBe(true);
    }
  });

  it('takes no imitation for an event in an unknown version, as reconcile says', async () => {
    const forging = nodeOf((shown) => {
      onlyAccounts(shown);
      for (const { instructions } of shown.meta.innerInstructions) {
        // The first account pays: it is no program.
        for (const instruction of instructions) instruction.programIdIndex = 0;
      }
    });
    const mirror = await mirrorOf(forging);
    const { rows } = await mirror.pool.query('select from jobs');
    expect(rows).toHaveLength(0);
    expect(isClean(await differencesOf(mirror))).toBe(false);
  });
});
