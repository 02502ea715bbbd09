import { describe, expect, it } from '@jest/globals';
import { finalize } from '../../indexer/mirror/finalize.ts';
import type { MirrorContext } from '../../indexer/mirror/progress.ts';
import { sweep } from '../../indexer/mirror/sweep.ts';
import { RetryableError } from '../../indexer/source/errors.ts';
import { BATCH_MAX } from '../../indexer/source/readAhead.ts';
import { ownClient, ownMirror } from '../../testing/indexer/own.ts';
import { addresses } from '../../testing/indexer/scene.ts';
import { createSyntheticSource } from '../../testing/indexer/syntheticSource.ts';

const TRANSACTIONS = 1_700;
/** The newest page has a hundred; each older one a thousand, and takes the cursor along. */
const STOPPED_AFTER = 1_300;
/** What was about to be stored together, and what was read ahead of it. */
const IN_FLIGHT_MAX = 2 * BATCH_MAX;

const mirror = await ownMirror();
const client = await ownClient(mirror);
/** How often each transaction was read, by its signature. */
const reads = new Map<string, number>();
const source = createSyntheticSource(TRANSACTIONS);

function contextWith(signal: AbortSignal, onRead: () => void): MirrorContext {
  return {
    ...{ database: client, addresses, commitment: 'confirmed', outbox: null, signal },
    onFolded: () => {},
    source: {
      ...source,
      read(listed) {
        reads.set(listed.signature, (reads.get(listed.signature) ?? 0) + 1);
        onRead();
        return source.read(listed);
      },
    },
  };
}

async function count(table: string): Promise<number> {
  const { rows } = await mirror.pool.query<{ rows: bigint }>(
    `select count(*) as rows from ${table}`,
  );
  return Number(rows[0]?.rows);
}

describe('the first sync of a long history', () => {
  it('starts with the oldest transaction, and keeps what it stored', async () => {
    const stopping = new AbortController();
    const context = contextWith(stopping.signal, () => {
      if (reads.size === STOPPED_AFTER) stopping.abort();
    });
    await expect(finalize(context)).rejects.toThrow(RetryableError);
    const stored = await count('transactions');
    expect(stored).toBeGreaterThanOrEqual(STOPPED_AFTER - IN_FLIGHT_MAX);
    expect(stored).toBeLessThan(STOPPED_AFTER);
    expect(await count('journal where not folded')).toBe(0);
  });

  it('resumes where it stopped and reads nothing twice', async () => {
    const questionsBefore = source.questions;
    const context = contextWith(new AbortController().signal, () => {});
    await finalize(context);
    // The newest page, the one that was begun, and the one before it for what may come late.
    expect(source.questions - questionsBefore).toBe(3);
    expect(await sweep(context)).toBe(0);
    expect(await count('transactions')).toBe(TRANSACTIONS);
    expect(await count('jobs where closed')).toBe(TRANSACTIONS - 1);
    // What was in flight when it stopped, and no more.
    const again = [...reads.values()].filter((times) => times > 1);
    expect(again.length).toBeLessThanOrEqual(IN_FLIGHT_MAX);
  });
});
