import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inTransaction } from '../../common/postgres.ts';
import type { LedgerEvent, LedgerTransaction } from '../../indexer/fold/event.ts';
import { changesOf } from '../../indexer/fold/folds.ts';
import { revertTransaction } from '../../indexer/mirror/revert.ts';
import { reconcile } from '../../indexer/reconcile/reconcile.ts';
import { digestTables } from '../../indexer/sql/digest.ts';
import { selectGaps } from '../../indexer/sql/progress.ts';
import { IDL } from '../../programs/client/index.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { addresses, createScene, type Scene } from '../../testing/indexer/scene.ts';
import { createRandom } from '../../testing/random.ts';
import { liveThrough } from './life.ts';

const random = createRandom();

let scene: Scene;
let transactions: LedgerTransaction[];
let straight: MirrorDatabase;
let digest: Record<string, string>;

beforeAll(async () => {
  scene = await createScene();
  await liveThrough(scene);
  transactions = await scene.read();
  straight = await createMirrorDatabase();
  await straight.apply(transactions);
  digest = await digestTables(straight.pool);
});

afterAll(async () => {
  await straight?.close();
  await scene?.ledger.close();
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
    [
      'worker',
      'WorkerRegistered',
      {
        stake_tokens: 0n,
        unstaking_tokens: 0n,
        claimable_base_units: 0n,
        jobs_settled: 0n,
        unstake_cooldown_seconds: 0n,
      },
    ],
    [
      'credit account',
      'CreditOpened',
      {
        available_credits: 0n,
        locked_credits: 0n,
        owed_credits: 0n,
        open_disputes: 0,
        spent_day: 0n,
        spent_today_credits: 0n,
      },
    ],
  ])('give a new %s nothing', (_what, kind, values) => {
    const created = transactions
      .flatMap(({ events }) => events)
      .filter(({ name }) => name === kind);
    expect(created.length).toBeGreaterThan(0);
    for (const event of created) {
      expect(changesOf(event, addresses)).toMatchObject([{ values }]);
    }
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

  it('hold back events after a missing transaction until it arrives', async () => {
    await withMirror(async (mirror) => {
      const missing = transactions.findIndex(({ events }) =>
        events.some(({ name }) => name === 'JobLocked'),
      );
      const lock = transactions[missing] as LedgerTransaction;
      await mirror.apply(transactions.filter((transaction) => transaction !== lock));
      expect(await countUnfolded(mirror)).toBeGreaterThan(0n);
      const gaps = await selectGaps(mirror.pool);
      expect(gaps.map(({ address }) => address)).toContain(scene.service.creditAccount.toBase58());
      await mirror.apply([lock]);
      expect(await countUnfolded(mirror)).toBe(0n);
      expect(await digestTables(mirror.pool)).toEqual(digest);
    });
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

  it('keep the events before a transaction that is rolled back', async () => {
    await withMirror(async (mirror) => {
      const half = Math.floor(transactions.length / 2);
      await mirror.apply(transactions.slice(0, half));
      const halfway = await digestTables(mirror.pool);
      await mirror.apply(transactions.slice(half, half + 5));
      for (const { signature } of transactions.slice(half, half + 5).toReversed()) {
        await inTransaction(mirror.pool, (client) =>
          revertTransaction(client, signature, addresses),
        );
      }
      expect(await digestTables(mirror.pool)).toEqual(halfway);
    });
  });

  it('notify listeners of every changed job at commit', async () => {
    await withMirror(async (mirror) => {
      const listener = await mirror.pool.connect();
      const announced = new Set<string>();
      listener.on('notification', ({ payload }) => {
        for (const address of payload?.split(',') ?? []) announced.add(address);
      });
      await listener.query('listen mirror_jobs');
      await mirror.apply(transactions);
      await listener.query('select 1');
      listener.release(true);
      const { rows } = await mirror.pool.query<{ address: string }>(
        'select address from mirror.jobs',
      );
      expect([...announced].sort()).toEqual(rows.map(({ address }) => address).sort());
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
