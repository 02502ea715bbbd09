import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Connection } from '@solana/web3.js';
import { isClean, reconcile } from '../../indexer/reconcile/reconcile.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { addresses, createScene, type Scene } from '../../testing/indexer/scene.ts';

/** Where a token account's balance stands in its bytes. */
const AMOUNT_OFFSET = 64;

const pausesMs: number[] = [];
let scene: Scene;
let mirror: MirrorDatabase;

beforeAll(async () => {
  scene = await createScene();
  await scene.lock();
  // Credits that were bought in the second of a look leave open what the vault held then.
  await scene.wait(10);
  mirror = await createMirrorDatabase();
  await mirror.apply(await scene.read());
});

afterAll(async () => {
  await mirror?.close();
  await scene?.ledger.close();
});

beforeEach(() => {
  pausesMs.length = 0;
});

/** A ledger on which tokens move whenever one looks, up to a number of times. */
function restless(connection: Connection, movesMax = Number.POSITIVE_INFINITY): Connection {
  let moves = 0;
  const getMultipleAccountsInfoAndContext: Connection['getMultipleAccountsInfoAndContext'] = async (
    ...question
  ) => {
    const answer = await connection.getMultipleAccountsInfoAndContext(...question);
    const data = answer.value[0]?.data as Buffer;
    moves = Math.min(moves + 1, movesMax);
    data.writeBigUInt64LE(data.readBigUInt64LE(AMOUNT_OFFSET) + BigInt(moves), AMOUNT_OFFSET);
    return answer;
  };
  return Object.assign(Object.create(connection), { getMultipleAccountsInfoAndContext });
}

function check(connection: Connection) {
  // What waits for the ledger to rest need not wait here: it never does.
  const wait = async (ms: number) => void pausesMs.push(ms);
  return reconcile({ database: mirror.pool, connection, addresses, wait });
}

describe('reconcile, with tokens that move all the time,', () => {
  it('compares the accounts and reports that the vaults were not compared', async () => {
    const result = await check(restless(scene.ledger.connection));
    expect(result.accounts).toBeGreaterThan(5);
    expect(result).toMatchObject({ differences: [], conservation: null });
    expect(isClean(result)).toBe(true);
  });

  it('reports a mirror that is wrong', async () => {
    await mirror.pool.query('update credit_accounts set available_credits = available_credits + 1');
    const result = await check(restless(scene.ledger.connection));
    await mirror.pool.query('update credit_accounts set available_credits = available_credits - 1');
    expect(result.differences.map(({ against }) => against)).toEqual(['ledger', 'journal']);
    expect(isClean(result)).toBe(false);
  });

  it('pauses between two attempts to read the vaults', async () => {
    const { conservation } = await check(restless(scene.ledger.connection, 4));
    expect(conservation).toHaveLength(2);
    expect(pausesMs).toEqual([1_000, 1_000]);
  });
});
