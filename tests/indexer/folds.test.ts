import { beforeAll, describe, expect, it } from '@jest/globals';
import { readNotices } from '../../common/database/mirrorNotices.ts';
import { inTransaction } from '../../common/postgres.ts';
import type { LedgerEvent, LedgerTransaction } from '../../indexer/fold/event.ts';
import { changesOf } from '../../indexer/fold/folds.ts';
import { revertTransaction } from '../../indexer/mirror/revert.ts';
import { reconcile } from '../../indexer/reconcile/reconcile.ts';
import { digestTables } from '../../indexer/sql/digest.ts';
import { IDL } from '../../programs/client/index.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { ownMirror, ownScene } from '../../testing/indexer/own.ts';
import { addresses } from '../../testing/indexer/scene.ts';
import { createRandom } from '../../testing/random.ts';
import { liveThrough } from './life.ts';

const random = createRandom();

const scene = await ownScene();
let transactions: LedgerTransaction[];
const straight = await ownMirror();
let digest: Record<string, string>;

beforeAll(async () => {
  await liveThrough(scene);
  transactions = await scene.read();
  await straight.apply(transactions);
  digest = await digestTables(straight.pool);
});

/** Runs `work` on a mirror of its own. */
async function withMirror(work: (mirror: MirrorDatabase) => Promise<void>): Promise<void> {
  const mirror = await createMirrorDatabase();
  try {
    await work(mirror);
  } finally {
    await mirror.close();
  }
}

function shuffle<Item>(items: readonly Item[]): Item[] {
  const shuffled = [...items];
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = random.below(last + 1);
    [shuffled[last], shuffled[other]] = [shuffled[other] as Item, shuffled[last] as Item];
  }
  return shuffled;
}

async function countUnfolded({ pool }: MirrorDatabase): Promise<bigint> {
  const { rows } = await pool.query<{ count: bigint }>(
    'select count(*) from mirror.journal where not folded',
  );
  return rows[0]?.count ?? 0n;
}

describe(`the mirror's folds (seed ${random.seed})`, () => {
  it('are tested with every kind of event that the program emits', () => {
    const emitted = transactions.flatMap(({ events }) => events.map(({ name }) => name));
    const known = (IDL.events ?? []).map(({ name }) => name);
    expect([...new Set(emitted)].sort()).toEqual([...known].sort());
  });

  it.each([
    [true, 'suspended'],
    [false, 'active'],
  ])('make a worker whose suspension is %s %s', (suspended, status) => {
    const found = transactions
      .flatMap(({ events }) => events)
      .find(({ name }) => name === 'WorkerSuspended');
    if (!found) throw new Error('no worker was suspended');
    const event = { ...found, data: { ...found.data, suspended } } as LedgerEvent;
    expect(changesOf(event, addresses)).toMatchObject([{ values: { status } }]);
  });

  it('yield the same state as the accounts on the ledger', async () => {
    const { connection } = scene.ledger;
    const result = await reconcile({ database: straight.pool, connection, addresses });
    expect(result.differences).toEqual([]);
    expect(result.accounts).toBeGreaterThan(10);
    expect(result.conservation).toHaveLength(2);
    for (const { heldBaseUnits, dueBaseUnits } of result.conservation ?? []) {
      expect(heldBaseUnits).toBe(dueBaseUnits);
    }
  });

  it('change nothing when every transaction is applied again', async () => {
    await straight.apply(transactions);
    expect(await digestTables(straight.pool)).toEqual(digest);
  });

  it('yield the same tables for any order of transactions', async () => {
    for (const order of [transactions.toReversed(), shuffle(transactions)]) {
      await withMirror(async (mirror) => {
        await mirror.apply(order);
        expect(await countUnfolded(mirror)).toBe(0n);
        expect(await digestTables(mirror.pool)).toEqual(digest);
      });
    }
  });

  it('can be rolled back together with later events, and applied again', async () => {
    await withMirror(async (mirror) => {
      await mirror.apply(transactions);
      for (const lost of shuffle(transactions).slice(0, 8)) {
        await inTransaction(mirror.pool, (client) =>
          revertTransaction(client, lost.signature, addresses),
        );
        await mirror.apply([lost]);
        expect(await countUnfolded(mirror)).toBe(0n);
        expect(await digestTables(mirror.pool)).toEqual(digest);
      }
    });
  });

  it('notify listeners of every changed job at commit', async () => {
    await withMirror(async (mirror) => {
      const listener = await mirror.pool.connect();
      const announced = new Map<string, string | undefined>();
      listener.on('notification', ({ payload = '' }) => {
        for (const { address, settled } of readNotices(payload)) {
          announced.set(address, settled?.settlementTx ?? announced.get(address));
        }
      });
      await listener.query('listen mirror_jobs');
      await mirror.apply(transactions);
      await listener.query('select 1');
      listener.release(true);
      const { rows } = await mirror.pool.query<{ address: string; settlement_tx: string | null }>(
        'select address, settlement_tx from mirror.jobs',
      );
      const shown = rows.map((row) => [row.address, row.settlement_tx ?? undefined] as const);
      expect(announced).toEqual(new Map(shown));
    });
  });
});

describe('the fold of', () => {
  const place = { signature: 'a signature', slot: 9n, instructionIndex: 0, innerIndex: 0 };

  /** What an event, of which the test names what matters, does to rows of a table. */
  const valuesOf = (table: string, name: string, data: Record<string, unknown>) =>
    changesOf({ ...place, name, data } as unknown as LedgerEvent, addresses)
      .filter((change) => change.table === table)
      .map(({ values }) => values);

  it('a repaid dispute credits the wallet with what it was owed', () => {
    const data = {
      claimantKind: 'credit_account',
      claimant: 'an account',
      remainingBaseUnits: '30000',
    };
    const sequences = { claimantSequence: '4', treasurySequence: '2' };
    expect(
      valuesOf('credit_accounts', 'ClaimPaid', { ...data, ...sequences, availableCredits: '130' }),
    ).toEqual([{ owed_credits: '3', available_credits: '130' }]);
  });

  it.each([
    ['ends the cooldown of a worker without unstaking tokens', '0', { unstake_ready_at: null }],
    ['keeps the cooldown of the remaining unstaking tokens', '5', {}],
  ])('a slash %s', (_what, unstakingTokens, cooldown) => {
    const sequences = { jobSequence: '5', creditSequence: '6', treasurySequence: '2' };
    const slash = { slashedTokens: '9', stakeTokens: '1', unstakingTokens, workerSequence: '7' };
    expect(
      valuesOf('workers', 'DisputeResolved', { verdict: 'rejected', ...sequences, ...slash }),
    ).toEqual([{ stake_tokens: '1', unstaking_tokens: unstakingTokens, ...cooldown }]);
  });
});
