import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import type { Database } from '../../common/postgres.ts';
import { finalize } from '../../indexer/mirror/finalize.ts';
import type { MirrorContext } from '../../indexer/mirror/progress.ts';
import { revertTransaction } from '../../indexer/mirror/revert.ts';
import { applyMissing } from '../../indexer/mirror/sweep.ts';
import type { LedgerSource } from '../../indexer/source/source.ts';
import { clearMirror } from '../../indexer/sql/digest.ts';
import { MIRROR_SCHEMA, useSchema } from '../../indexer/sql/schema.ts';
import { atomically } from '../../indexer/sql/writeChanges.ts';
import {
  createWebhookOutbox,
  type OutboxSettings,
} from '../../indexer/webhooks/announce/webhookOutbox.ts';
import { ownMirror } from '../../testing/indexer/own.ts';
import { addresses } from '../../testing/indexer/scene.ts';
import { createRandom } from '../../testing/random.ts';
import { createChance } from './simulator/chance.ts';
import { type Delivery, selectDeliveries } from './simulator/differences/announcements.ts';
import { foldCleanly } from './simulator/differences/cleanFold.ts';
import { findDifferences } from './simulator/differences/findDifferences.ts';
import { NO_FAULTS } from './simulator/faultRates.ts';
import { WALLETS } from './simulator/ledger/drawInstructions.ts';
import type { Landed } from './simulator/ledger/landed.ts';
import { createSimulatedLedger, type SimulatedLedger } from './simulator/ledger/simulatedLedger.ts';
import { createTraffic } from './simulator/ledger/traffic.ts';
import { createClock } from './simulator/simulatedClock.ts';
import { createUnreliableNode } from './simulator/unreliableNode.ts';
import { subscribeToAll } from './subscribeToAll.ts';

const random = createRandom();
const TRANSACTIONS = 200;
/** Each costs a new connection, which takes long on a busy machine. */
const KILLS_MAX = 20;
/** Statements of a batch and of some more: most kills come within one. */
const KILL_WITHIN_STATEMENTS = 120;
/** An answer takes so many turns of the event loop at most, so that batches are of all sizes. */
const TURNS_MAX = 10;

const mirror = await ownMirror();

beforeEach(async () => {
  await clearMirror(mirror.pool);
  await subscribeToAll(mirror.pool, WALLETS);
});

/** A history that is final, and a node that shows it. */
function createHistory(): { ledger: SimulatedLedger; source: LedgerSource } {
  const chanceOf = (part: string) => createChance(random.below(2 ** 30), part);
  const ledger = createSimulatedLedger(chanceOf('ledger'));
  const rates = () => NO_FAULTS;
  const traffic = createTraffic({ ledger, chance: chanceOf('traffic'), rates });
  while (ledger.transactions.length < TRANSACTIONS) traffic.step();
  traffic.end();
  return { ledger, source: nodeOf(ledger) };
}

/** A node without any of the faults that it might have. */
function nodeOf(ledger: SimulatedLedger): LedgerSource {
  const chance = createChance(random.below(2 ** 30), 'node');
  return createUnreliableNode({
    ...{ ledger, chance, strandings: chance, clock: createClock(), rates: () => NO_FAULTS },
    ...{ hidden: new Set(), isFollowed: () => false },
  });
}

function succeededOf({ transactions }: SimulatedLedger): Landed[] {
  return transactions.filter(({ failed }) => !failed);
}

/** Answers late, and not in the order of the questions. */
function slowly(source: LedgerSource): LedgerSource {
  return {
    ...source,
    async read(listed) {
      for (let turns = random.below(TURNS_MAX); turns > 0; turns -= 1) await turn();
      return source.read(listed);
    },
  };
}

interface Keeping {
  readonly source: LedgerSource;
  readonly outboxSettings: OutboxSettings;
  readonly outbox?: MirrorContext['outbox'];
  /** Ends the connection at this statement; never, where it is undefined. */
  readonly killedAt?: number;
}

/** Keeps the mirror on a connection of its own. @returns how many database transactions it ended */
async function keep(
  { source, outboxSettings, outbox, killedAt }: Keeping,
  work: (context: MirrorContext) => Promise<unknown>,
): Promise<number> {
  const client = await mirror.pool.connect();
  const send = client.query.bind(client) as (...parameters: unknown[]) => Promise<unknown>;
  let statements = 0;
  let commits = 0;
  client.query = (async (...parameters: unknown[]) => {
    statements += 1;
    if (parameters[0] === 'commit') commits += 1;
    if (statements === killedAt) await endConnection(client);
    return send(...parameters);
  }) as typeof client.query;
  try {
    await useSchema(client, MIRROR_SCHEMA);
    await work({
      ...{ database: client, source, addresses, commitment: 'confirmed' },
      outbox: outbox ?? createWebhookOutbox(outboxSettings, 0n),
      ...{ onFolded: () => {}, signal: new AbortController().signal },
    });
    return commits;
  } finally {
    client.release(true);
  }
}

async function endConnection(client: pg.PoolClient): Promise<void> {
  const { processID } = client as pg.PoolClient & { processID: number };
  await mirror.pool.query('select pg_terminate_backend($1, 5000)', [processID]);
}

/** Notes the table of each COPY. */
function watchCopies(database: Database, copied: string[]): Database {
  const client = database as pg.PoolClient;
  const send = client.query as (...parameters: unknown[]) => unknown;
  client.query = ((...parameters: unknown[]) => {
    const { text = '' } = parameters[0] as { text?: string };
    const [, table] = /^copy (\w+)/.exec(text) ?? [];
    if (table) copied.push(table);
    return send(...parameters);
  }) as typeof client.query;
  return client;
}

async function count(table: string, signature: string): Promise<bigint | undefined> {
  const { rows } = await mirror.pool.query<{ rows: bigint }>(
    `select count(*) as rows from ${table} where signature = $1`,
    [signature],
  );
  return rows[0]?.rows;
}

async function storedSignatures(): Promise<string[]> {
  const { rows } = await mirror.pool.query<{ signature: string }>(
    'select signature from transactions order by slot, signature',
  );
  return rows.map(({ signature }) => signature);
}

/** Each has one webhook, which is promised its events in their order. */
function byWallet(deliveries: readonly Delivery[]): Partial<Record<string, Delivery[]>> {
  return Object.groupBy(deliveries, ({ wallet }) => wallet);
}

describe(`a mirror that catches up (seed ${random.seed})`, () => {
  it.each([
    { awaitsFinality: false, when: 'at once' },
    { awaitsFinality: true, when: 'when it is final' },
  ])(
    'yields the tables of one transaction at a time ($when), also when killed',
    async ({ awaitsFinality }) => {
      const { ledger, source } = createHistory();
      const keeping = { source: slowly(source), outboxSettings: { awaitsFinality } };
      let kills = 0;
      let commits: number | undefined;
      while (commits === undefined) {
        const killedAt = 1 + random.below(KILL_WITHIN_STATEMENTS * (1 + kills / 10));
        const isLast = kills === KILLS_MAX;
        try {
          commits = await keep({ ...keeping, ...(!isLast && { killedAt }) }, finalize);
        } catch (error) {
          if (isLast) throw error;
          kills += 1;
        }
      }
      const { outboxSettings } = keeping;
      const expected = { pool: mirror.pool, ledger, outboxSettings, floorSlot: 0n };
      const sent = byWallet(await selectDeliveries(mirror.pool));
      const clean = await foldCleanly(expected);
      expect(sent).toEqual(byWallet(clean.deliveries));
      expect(Object.values(await findDifferences(expected, clean)).flat()).toEqual([]);
      expect(kills).toBeGreaterThan(0);
    },
  );

  it('copies a history with a gap, and reverts it, like single transactions', async () => {
    const { ledger, source } = createHistory();
    const outboxSettings = { awaitsFinality: false };
    const inOrder = succeededOf(ledger);
    const copied: string[] = [];
    await keep({ source, outboxSettings }, async (context) => {
      const watched = watchCopies(context.database, copied);
      // The first half is copied whole; in the second one an event waits for another.
      const half = 64 + random.below(32);
      const late = half + 40 + random.below(20);
      const listed = inOrder.toSpliced(late, 1).toSpliced(late + 10, 0, inOrder[late] as Landed);
      await applyMissing({ ...context, database: watched }, listed.slice(0, half));
      expect(copied).toContain('jobs');
      await applyMissing({ ...context, database: watched }, listed.slice(half));
      const lost = inOrder[half - 1 - random.below(32)] as Landed;
      await atomically(watched, () => revertTransaction(watched, lost.signature, addresses));
      expect(await count('account_changes', lost.signature)).toBe(0n);
      expect(await count('journal', lost.signature)).toBe(0n);
      await applyMissing({ ...context, outbox: null }, [lost]);
    });
    const clean = { pool: mirror.pool, ledger, outboxSettings, floorSlot: 0n };
    expect((await foldCleanly(clean)).tables).toEqual([]);
  });

  it('stores everything before a transaction that it cannot apply, then fails', async () => {
    const { ledger, source } = createHistory();
    const succeeded = succeededOf(ledger);
    const bad = 40 + random.below(100);
    const unreadable: LedgerSource['read'] = async (listed) => {
      const transaction = await source.read(listed);
      if (listed.signature !== succeeded[bad]?.signature) return transaction;
      const events = transaction.events.map((event) => ({ ...event, name: 'Unknown' as never }));
      return { ...transaction, events };
    };
    const outboxSettings = { awaitsFinality: false };
    const work = keep({ source: { ...source, read: unreadable }, outboxSettings }, finalize);
    await expect(work).rejects.toThrow('has no Unknown');
    const expected = succeeded.slice(0, bad).map(({ signature }) => signature);
    expect((await storedSignatures()).sort()).toEqual(expected.sort());
    const sent = byWallet(await selectDeliveries(mirror.pool));
    const before = { ...ledger, transactions: succeeded.slice(0, bad) };
    const clean = { pool: mirror.pool, ledger: before, outboxSettings, floorSlot: 0n };
    const { tables, deliveries } = await foldCleanly(clean);
    expect(tables).toEqual([]);
    expect(sent).toEqual(byWallet(deliveries));

    await keep({ source, outboxSettings }, finalize);
    const differences = await findDifferences({ ...clean, ledger });
    expect(Object.values(differences).flat()).toEqual([]);
  });
});
