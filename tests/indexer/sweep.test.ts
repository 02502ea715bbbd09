import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type pg from 'pg';
import type { LedgerEvent, LedgerTransaction } from '../../indexer/fold/event.ts';
import { applyTransactions } from '../../indexer/mirror/apply.ts';
import { finalize } from '../../indexer/mirror/finalize.ts';
import type { MirrorContext } from '../../indexer/mirror/progress.ts';
import { fillGaps, sweep } from '../../indexer/mirror/sweep.ts';
import { RetryableError } from '../../indexer/source/errors.ts';
import type { LedgerSource } from '../../indexer/source/source.ts';
import { clearMirror, digestTables } from '../../indexer/sql/digest.ts';
import { selectCursor } from '../../indexer/sql/progress.ts';
import { atomically } from '../../indexer/sql/writeChanges.ts';
import type { WebhookOutbox } from '../../indexer/webhooks/announce/webhookOutbox.ts';
import { jobRefund } from '../../programs/client/index.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { addresses, createScene, type Scene } from '../../testing/indexer/scene.ts';
import { landUnchecked } from './landUnchecked.ts';
import { contextOf } from './mirrorContext.ts';

/** Beyond the reach of what a blockhash allows. */
const SLOTS_BELOW_FINAL = 150;

let scene: Scene;
let transactions: LedgerTransaction[];
let digest: Record<string, string>;
let mirror: MirrorDatabase;
let client: pg.PoolClient;

beforeAll(async () => {
  scene = await createScene();
  for (let round = 0; round < 3; round += 1) {
    const [settled, failed] = await scene.lock(2);
    if (!settled || !failed) throw new Error('two jobs were locked');
    await scene.acknowledge(settled);
    await scene.settle(settled);
    await scene.fail(failed);
  }
  transactions = await scene.read();
  mirror = await createMirrorDatabase();
  client = await mirror.pool.connect();
  await mirror.apply(transactions);
  digest = await digestTables(client);
  // Everything so far is final, and below the reach of a sweep that has come this far.
  await scene.wait(10);
});

afterAll(async () => {
  client?.release();
  await mirror?.close();
  await scene?.ledger.close();
});

beforeEach(() => clearMirror(mirror.pool));

/** The ledger itself, or as a node with some fault shows it. */
function contextWith(fault: Partial<LedgerSource> = {}, signal?: AbortSignal): MirrorContext {
  return contextOf(client, { ...scene.source, ...fault }, signal);
}

/** A node that leaves a transaction out when the program's are listed. */
function leavingOut(signature: string): Partial<LedgerSource> {
  return {
    list: async (query) => {
      const page = await scene.source.list(query);
      return query.address ? page : page.filter((listed) => listed.signature !== signature);
    },
  };
}

const lockOf = (): LedgerTransaction =>
  transactions.find(({ events }) => events.some(({ name }) => name === 'JobLocked')) as never;

describe('a sweep', () => {
  it('brings the mirror up to the ledger, after which another finds nothing', async () => {
    expect(await sweep(contextWith())).toBe(transactions.length);
    expect(await digestTables(client)).toEqual(digest);
    expect(await sweep(contextWith())).toBe(0);
  });

  it('refills an emptied mirror, and leaves rows that are not the ledger’s', async () => {
    await sweep(contextWith());
    await client.query(
      `insert into service.api_keys (key_sha256, wallet, status) values ('a', 'b', 'active')`,
    );
    await clearMirror(mirror.pool);
    expect(await digestTables(client)).not.toEqual(digest);
    await sweep(contextWith());
    expect(await digestTables(client)).toEqual(digest);
    expect((await client.query('select from service.api_keys')).rowCount).toBe(1);
  });

  it('reads page after page until it reaches the cursor', async () => {
    const list: LedgerSource['list'] = (query) => scene.source.list({ ...query, limit: 4 });
    expect(await sweep(contextWith({ list }))).toBe(transactions.length);
    expect(await digestTables(client)).toEqual(digest);
  });

  it('keeps the cursor at what is stored when it fails, and resumes there', async () => {
    const breaking = transactions[7] as LedgerTransaction;
    const read: LedgerSource['read'] = async (listed) => {
      if (listed.signature === breaking.signature) throw new RetryableError('out of reach');
      return scene.source.read(listed);
    };
    await expect(sweep(contextWith({ read }))).rejects.toThrow('out of reach');
    expect(await selectCursor(client, 'confirmed')).toBeLessThanOrEqual(breaking.slot);
    await sweep(contextWith());
    expect(await digestTables(client)).toEqual(digest);
  });

  it('leaves nothing of a transaction behind of which one statement fails', async () => {
    await sweep(contextWith());
    const { rows } = await client.query<object>(
      `select worker, model, (sequence + 1)::text as "workerSequence"
       from mirror.workers join mirror.worker_models on worker = address`,
    );
    const data = { ...rows[0], slot: '1', unixTime: '1' };
    const place = { signature: 'a transaction', slot: 1n, instructionIndex: 0, innerIndex: 0 };
    const events = [{ ...place, name: 'WorkerUnhosted', data } as unknown as LedgerEvent];
    const query = client.query.bind(client) as (...given: unknown[]) => Promise<never>;
    const failing = jest.spyOn(client, 'query').mockImplementation((async (...given: unknown[]) => {
      // Before the others of its database transaction are answered.
      if ((given[0] as pg.QueryConfig).name === 'select_held_events') throw new Error('too slow');
      return query(...given);
    }) as typeof client.query);
    const applying = atomically(client, () =>
      applyTransactions(client, [{ ...place, events }], addresses),
    );
    await applying.catch(() => undefined).finally(() => failing.mockRestore());
    await expect(applying).rejects.toThrow('too slow');
    expect(await digestTables(client)).toEqual(digest);
  });

  it('stores nothing that it cannot announce, and announces each event once', async () => {
    const announced: LedgerEvent[] = [];
    const outbox: WebhookOutbox = {
      announce: async (_database, events) => void announced.push(...events),
      markFinal: async () => {},
      withdraw: async () => {},
    };
    const announce = async () => {
      throw new RetryableError('no announcement');
    };
    const context = contextWith();
    const mute = { ...context, outbox: { ...outbox, announce } };
    await expect(sweep(mute)).rejects.toThrow('no announcement');
    expect((await client.query('select from mirror.transactions')).rowCount).toBe(0);
    expect(await selectCursor(client, 'confirmed')).toBe(0n);

    await sweep({ ...context, outbox });
    await sweep({ ...context, outbox });
    const places = (events: readonly LedgerEvent[]) =>
      events.map(({ signature, name, innerIndex }) => ({ signature, name, innerIndex }));
    expect(places(announced)).toEqual(places(transactions.flatMap(({ events }) => events)));
  });

  it('stops between two transactions when it is aborted, and resumes there', async () => {
    const stopping = new AbortController();
    const read: LedgerSource['read'] = async (listed) => {
      if (listed.signature === transactions[12]?.signature) stopping.abort();
      return scene.source.read(listed);
    };
    await expect(sweep(contextWith({ read }, stopping.signal))).rejects.toThrow(RetryableError);
    expect(await digestTables(client)).not.toEqual(digest);
    await sweep(contextWith());
    expect(await digestTables(client)).toEqual(digest);
  });

  it('rejects a node that answers every request with its newest page', async () => {
    const list: LedgerSource['list'] = (query) =>
      scene.source.list({ ...query, before: undefined, limit: 4 });
    await expect(sweep(contextWith({ list }))).rejects.toThrow(RetryableError);
    expect(await selectCursor(client, 'confirmed')).toBe(0n);
  });

  it('skips a failed transaction', async () => {
    await sweep(contextWith());
    const before = await selectCursor(client, 'confirmed');
    const { creditAccount } = scene.service;
    await landUnchecked(scene.ledger, jobRefund({ job: addresses.config, creditAccount }));
    expect(await sweep(contextWith())).toBe(0);
    expect(await selectCursor(client, 'confirmed')).toBeGreaterThan(before);
    expect(await digestTables(client)).toEqual(digest);
  });
});

describe('a transaction that a node omitted from its list', () => {
  it('is found in the history of the account that lacks it', async () => {
    const { signature } = lockOf();
    const context = contextWith(leavingOut(signature));
    await sweep(context);
    expect(await digestTables(client)).not.toEqual(digest);
    expect(await fillGaps(context)).toContain(scene.service.creditAccount.toBase58());
    expect(await digestTables(client)).toEqual(digest);
    expect(await fillGaps(context)).toEqual([]);
  });

  it('is found when the final transactions are listed', async () => {
    await sweep(contextWith(leavingOut(lockOf().signature)));
    expect(await sweep(contextWith())).toBe(0);
    expect(await finalize(contextWith())).toEqual([]);
    expect(await digestTables(client)).toEqual(digest);
  });
});

describe('finality', () => {
  it('is not concluded from the list of a node that is behind', async () => {
    await sweep(contextWith());
    const before = await selectCursor(client, 'finalized');
    const list: LedgerSource['list'] = async (query) => {
      if ((query.nodeSlotMin ?? 0n) > lockOf().slot) throw new RetryableError('not reached yet');
      const page = await scene.source.list(query);
      return page.filter(({ slot }) => slot <= lockOf().slot);
    };
    await expect(finalize(contextWith({ list }))).rejects.toThrow('not reached yet');
    expect(await selectCursor(client, 'finalized')).toBe(before);
  });

  it('is not concluded from an empty list of a node that knows what is final', async () => {
    await finalize(contextWith());
    const before = await selectCursor(client, 'finalized');
    await scene.wait(10);
    const list: LedgerSource['list'] = async () => [];
    await expect(finalize(contextWith({ list }))).rejects.toThrow(RetryableError);
    expect(await selectCursor(client, 'finalized')).toBe(before);
  });

  it('advances when a node no longer has a history that is long past', async () => {
    await finalize(contextWith());
    await scene.wait(10);
    const finalizedSlot = await scene.source.slot('finalized');
    const forgetful = contextWith({
      slot: async () => finalizedSlot,
      list: async () => [],
      locate: async () => new Map(),
    });
    expect(await finalize(forgetful)).toEqual([]);
    expect(await selectCursor(client, 'finalized')).toBe(finalizedSlot);
  });

  it('is checked with a node that has reached the final slot', async () => {
    await mirror.apply(transactions);
    await scene.wait(SLOTS_BELOW_FINAL);
    const asked: bigint[] = [];
    const locate: LedgerSource['locate'] = async (signatures, nodeSlotMin) => {
      asked.push(nodeSlotMin);
      return scene.source.locate(signatures, nodeSlotMin);
    };
    const finalizedSlot = await scene.source.slot('finalized');
    const slot = async () => finalizedSlot;
    await finalize(contextWith({ locate, slot, list: async () => [] }));
    expect(asked).toEqual([finalizedSlot]);
  });

  it('is stored for every transaction once the ledger has reached it', async () => {
    await sweep(contextWith());
    await finalize(contextWith());
    const { rows } = await client.query<{ commitment: string; count: bigint }>(
      'select commitment, count(*) from mirror.transactions group by commitment',
    );
    expect(rows).toEqual([{ commitment: 'finalized', count: BigInt(transactions.length) }]);
  });

  it('replaces a transaction that the ledger has lost by the one in its place', async () => {
    const lock = lockOf();
    const position = transactions.indexOf(lock);
    const signature = 'a transaction of an abandoned fork';
    const events = lock.events.map((event) => ({ ...event, signature }));
    await mirror.apply(transactions.slice(0, position));
    await mirror.apply([{ ...lock, signature, events }]);
    await sweep(contextWith());
    const { rows } = await client.query('select from mirror.journal where not folded');
    expect(rows.length).toBeGreaterThan(0);

    const locate: LedgerSource['locate'] = (signatures, nodeSlotMin) => {
      const known = signatures.filter((located) => located !== signature);
      return scene.source.locate(known, nodeSlotMin);
    };
    expect(await finalize(contextWith({ locate }))).toEqual([signature]);
    expect(await digestTables(client)).toEqual(digest);
  });
});
