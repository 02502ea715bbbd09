import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type pg from 'pg';
import type { LedgerEvent, LedgerTransaction } from '../../indexer/fold/event.ts';
import { applyTransactions } from '../../indexer/mirror/apply.ts';
import { finalize } from '../../indexer/mirror/finalize.ts';
import type { MirrorContext } from '../../indexer/mirror/progress.ts';
import { sweep } from '../../indexer/mirror/sweep.ts';
import { RetryableError } from '../../indexer/source/errors.ts';
import type { LedgerSource } from '../../indexer/source/source.ts';
import { clearMirror, digestTables } from '../../indexer/sql/digest.ts';
import { selectCursor } from '../../indexer/sql/progress.ts';
import { atomically } from '../../indexer/sql/writeChanges.ts';
import type { WebhookOutbox } from '../../indexer/webhooks/announce/webhookOutbox.ts';
import { ownClient, ownMirror, ownScene } from '../../testing/indexer/own.ts';
import { addresses } from '../../testing/indexer/scene.ts';
import { contextOf } from './mirrorContext.ts';

/** Beyond the reach of what a blockhash allows. */
const SLOTS_BELOW_FINAL = 150;

const scene = await ownScene();
let transactions: LedgerTransaction[];
let digest: Record<string, string>;
const mirror = await ownMirror();
const client = await ownClient(mirror);

beforeAll(async () => {
  for (let round = 0; round < 3; round += 1) {
    const [settled, failed] = await scene.lock(2);
    if (!settled || !failed) throw new Error('two jobs were locked');
    await scene.acknowledge(settled);
    await scene.settle(settled);
    await scene.fail(failed);
  }
  transactions = await scene.read();
  await mirror.apply(transactions);
  digest = await digestTables(client);
  // Everything so far is final, and below the reach of a sweep that has come this far.
  await scene.wait(10);
});

beforeEach(() => clearMirror(mirror.pool));

/** The ledger itself, or as a node with some fault shows it. */
function contextWith(fault: Partial<LedgerSource> = {}): MirrorContext {
  return contextOf(client, { ...scene.source, ...fault });
}

describe('a sweep', () => {
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
});

describe('finality', () => {
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
});
