import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { isClean, reconcile } from '../../indexer/reconcile/reconcile.ts';
import { createMirrorDatabase, type MirrorDatabase } from './mirrorDatabase.ts';
import { addresses, createScene, type Scene } from './scene.ts';

let scene: Scene;
let mirror: MirrorDatabase;
let job: PublicKey;

beforeAll(async () => {
  scene = await createScene();
  [job] = (await scene.lock()) as [PublicKey];
  mirror = await createMirrorDatabase();
  await mirror.apply(await scene.read());
});

afterAll(async () => {
  await mirror?.close();
  await scene?.ledger.close();
});

function check() {
  const { connection } = scene.ledger;
  return reconcile({ database: mirror.pool, connection, addresses });
}

/** Damages the mirror for as long as it is compared. */
async function checkWith(damage: string, repair: string) {
  await mirror.pool.query(damage);
  const result = await check();
  await mirror.pool.query(repair);
  expect(isClean(result)).toBe(false);
  return result.differences;
}

describe('reconcile', () => {
  it('reports nothing while journal, tables, accounts and vaults agree', async () => {
    const result = await check();
    expect(result.differences).toEqual([]);
    expect(isClean(result)).toBe(true);
  });

  it('reports each column that differs from account and journal, with both values', async () => {
    const address = scene.service.creditAccount.toBase58();
    const difference = { address, column: 'available_credits', mirror: '7', expected: '9992' };
    expect(
      await checkWith(
        'update credit_accounts set available_credits = 7',
        'update credit_accounts set available_credits = 9992',
      ),
    ).toEqual([
      { against: 'ledger', ...difference },
      { against: 'journal', ...difference },
    ]);
  });

  it('reports a hosted model that the mirror lacks', async () => {
    const address = scene.service.worker.toBase58();
    const model = addresses.model(scene.service.model.id).toBase58();
    const difference = { address, column: 'models', mirror: '', expected: model };
    expect(
      await checkWith(
        'delete from worker_models',
        `insert into worker_models values ('${address}', '${model}')`,
      ),
    ).toEqual([
      { against: 'ledger', ...difference },
      { against: 'journal', ...difference },
    ]);
  });

  it('reports an account that the mirror lacks, and one that only the mirror has', async () => {
    const address = job.toBase58();
    const lacks = { address, column: 'sequence', mirror: null, expected: '1' };
    const has = { address: 'nowhere', column: 'sequence', mirror: '1', expected: null };
    expect(
      await checkWith(
        `update jobs set address = 'nowhere' where address = '${address}'`,
        `update jobs set address = '${address}' where address = 'nowhere'`,
      ),
    ).toEqual([
      { against: 'ledger', ...lacks },
      { against: 'ledger', ...has },
      { against: 'journal', ...lacks },
      { against: 'journal', ...has },
    ]);
  });

  it('reports what the ledger no longer shows, from the journal alone', async () => {
    const address = job.toBase58();
    const gone = await checkWith(
      `update jobs set closed = true, escrow_tx = 'another'`,
      `update jobs set closed = false, escrow_tx = (
         select signature from journal where event_name = 'JobLocked')`,
    );
    expect(gone).toContainEqual(
      expect.objectContaining({ against: 'journal', address, column: 'escrow_tx' }),
    );
  });

  it('reports a fold that the journal does not explain', async () => {
    const address = scene.service.creditAccount.toBase58();
    const differences = await checkWith(
      `update journal set folded = false where event_name = 'CreditBought'`,
      `update journal set folded = true where event_name = 'CreditBought'`,
    );
    expect(differences).toEqual([
      { against: 'journal', address, column: 'sequence', mirror: '3', expected: '1' },
    ]);
  });

  it('does not take a mirror that is a moment behind for a wrong one', async () => {
    const checking = check();
    const [locked] = await scene.lock();
    await mirror.apply(await scene.read());
    const { differences } = await checking;
    expect(differences).toEqual([]);
    expect(locked).toBeDefined();
  });

  it('tells what the vaults hold and what they owe', async () => {
    const { conservation } = await check();
    expect(conservation).toEqual([
      { vault: 'vault', heldBaseUnits: 100_000_000n, dueBaseUnits: 100_000_000n },
      { vault: 'stake_vault', heldBaseUnits: 1_000_000_000n, dueBaseUnits: 1_000_000_000n },
    ]);
  });

  it('calls a vault that lacks what it owes a breach, and one that holds more none', async () => {
    const result = await check();
    const holding = (heldBaseUnits: bigint) => ({
      ...result,
      conservation: [{ vault: 'vault' as const, heldBaseUnits, dueBaseUnits: 100n }],
    });
    expect([99n, 100n, 101n].map((held) => isClean(holding(held)))).toEqual([false, true, true]);
  });
});
