import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import type { LedgerTransaction } from '../../indexer/fold/event.ts';
import { finalize } from '../../indexer/mirror/finalize.ts';
import type { MirrorContext } from '../../indexer/mirror/progress.ts';
import { sweep } from '../../indexer/mirror/sweep.ts';
import { RetryableError } from '../../indexer/source/errors.ts';
import type { LedgerSource } from '../../indexer/source/source.ts';
import { clearMirror, digestTables } from '../../indexer/sql/digest.ts';
import { jobRefund } from '../../programs/client/index.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { addresses, createScene, type Scene } from '../../testing/indexer/scene.ts';
import { landUnchecked } from './landUnchecked.ts';
import { contextOf } from './mirrorContext.ts';

/** Beyond the reach of what a settlement looks for by its signature. */
const SLOTS_BELOW_FINAL = 150;

let scene: Scene;
/** As they stand on the surviving fork. */
let surviving: LedgerTransaction[];
let digest: Record<string, string>;
let mirror: MirrorDatabase;
let client: pg.PoolClient;

beforeAll(async () => {
  scene = await createScene();
  await scene.lock(2);
  surviving = await scene.read();
  mirror = await createMirrorDatabase();
  client = await mirror.pool.connect();
  await mirror.apply(surviving);
  digest = await digestTables(client);
  await scene.wait(10);
});

afterAll(async () => {
  client?.release();
  await mirror?.close();
  await scene?.ledger.close();
});

beforeEach(() => clearMirror(mirror.pool));

function contextWith(fault: Partial<LedgerSource> = {}): MirrorContext {
  return contextOf(client, { ...scene.source, ...fault });
}

function lockOf(transactions: readonly LedgerTransaction[]): LedgerTransaction {
  const lock = transactions.find(({ events }) => events.some(({ name }) => name === 'JobLocked'));
  if (!lock) throw new Error('two jobs were locked');
  return lock;
}

/** The same transaction as it was on an abandoned fork: a slot earlier, upon other balances. */
function onAbandonedFork(transaction: LedgerTransaction): LedgerTransaction {
  const slot = transaction.slot - 1n;
  const events = transaction.events.map((event) => {
    const data = { ...event.data, slot: `${slot}`, availableCredits: '12345' };
    return { ...event, slot, data } as never;
  });
  return { ...transaction, slot, events };
}

/** A mirror that saw the lock on the abandoned fork, and everything else where it is. */
async function mirrorOfAbandonedFork(): Promise<void> {
  const lock = lockOf(surviving);
  await mirror.apply(surviving.map((each) => (each === lock ? onAbandonedFork(lock) : each)));
  expect(await digestTables(client)).not.toEqual(digest);
}

async function commitments(): Promise<Set<string>> {
  const { rows } = await client.query<{ commitment: string }>(
    'select commitment from mirror.transactions',
  );
  return new Set(rows.map(({ commitment }) => commitment));
}

describe('a transaction that landed again after a fork was abandoned', () => {
  it('gets its new slot when the ledger lists it as final there', async () => {
    await mirrorOfAbandonedFork();
    await sweep(contextWith());
    expect(await finalize(contextWith())).toEqual([lockOf(surviving).signature]);
    expect(await digestTables(client)).toEqual(digest);
    expect(await commitments()).toEqual(new Set(['finalized']));
    expect(await finalize(contextWith())).toEqual([]);
  });

  it('gets its new slot by a signature lookup when a node omits it', async () => {
    await mirrorOfAbandonedFork();
    await scene.wait(SLOTS_BELOW_FINAL);
    const { signature } = lockOf(surviving);
    const list: LedgerSource['list'] = async (query) =>
      (await scene.source.list(query)).filter((listed) => listed.signature !== signature);
    expect(await finalize(contextWith({ list }))).toEqual([signature]);
    expect(await digestTables(client)).toEqual(digest);
  });

  it('keeps its old slot while it cannot be read, and is corrected later', async () => {
    await mirrorOfAbandonedFork();
    const before = await digestTables(client);
    const read: LedgerSource['read'] = async () => {
      throw new RetryableError('out of reach');
    };
    await expect(finalize(contextWith({ read }))).rejects.toThrow('out of reach');
    expect(await digestTables(client)).toEqual(before);
    await finalize(contextWith());
    expect(await digestTables(client)).toEqual(digest);
  });

  it('is rolled back when it failed in its new slot', async () => {
    await mirror.apply(surviving);
    const { creditAccount } = scene.service;
    const job = addresses.config;
    const signature = await landUnchecked(scene.ledger, jobRefund({ job, creditAccount }));
    const succeeded = onAbandonedFork(lockOf(surviving));
    const events = succeeded.events.map((event) => ({ ...event, signature }));
    await mirror.apply([{ ...succeeded, signature, events }]);
    await scene.wait(10);
    expect(await finalize(contextWith())).toEqual([signature]);
    const { rows } = await client.query('select from mirror.transactions where signature = $1', [
      signature,
    ]);
    expect(rows).toEqual([]);
    expect(await digestTables(client)).toEqual(digest);
  });
});

describe('a node on another fork than the node that listed a transaction', () => {
  it('is asked again, because its answer does not match the list', async () => {
    const { signature, slot } = lockOf(surviving);
    const listed = { signature, slot: slot - 1n, failed: false };
    await expect(scene.source.read(listed)).rejects.toThrow(RetryableError);
    expect(await scene.source.read({ ...listed, slot })).toEqual(lockOf(surviving));
  });
});
