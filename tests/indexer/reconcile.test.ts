import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { reconcile } from '../../indexer/reconcile/reconcile.ts';
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
  scene?.ledger.close();
});

function check() {
  const { connection } = scene.ledger;
  return reconcile({ database: mirror.pool, connection, addresses });
}

describe('reconcile', () => {
  it('reports nothing while mirror and ledger agree', async () => {
    expect((await check()).differences).toEqual([]);
  });

  it('reports each column that differs, with both values', async () => {
    const address = scene.service.creditAccount.toBase58();
    await mirror.pool.query('update mirror.credit_accounts set available_credits = 7');
    expect((await check()).differences).toEqual([
      { address, column: 'available_credits', mirror: '7', ledger: '9992' },
    ]);
    await mirror.pool.query('update mirror.credit_accounts set available_credits = 9992');
  });

  it('reports a hosted model that the mirror lacks', async () => {
    await mirror.pool.query('delete from mirror.worker_models');
    const address = scene.service.worker.toBase58();
    const model = addresses.model(scene.service.model.id).toBase58();
    expect((await check()).differences).toEqual([
      { address, column: 'models', mirror: '', ledger: model },
    ]);
    await mirror.pool.query('insert into mirror.worker_models values ($1, $2)', [address, model]);
  });

  it('reports an account that the mirror lacks, and one that only the mirror has', async () => {
    const rename = 'update mirror.jobs set address = $2 where address = $1';
    const address = job.toBase58();
    await mirror.pool.query(rename, [address, 'nowhere']);
    const { differences } = await check();
    await mirror.pool.query(rename, ['nowhere', address]);
    expect(differences).toEqual([
      { address, column: 'sequence', mirror: null, ledger: '1' },
      { address: 'nowhere', column: 'sequence', mirror: '1', ledger: null },
    ]);
  });

  it('tells what the vaults hold and what they owe', async () => {
    const { conservation } = await check();
    expect(conservation).toEqual([
      { vault: 'vault', heldBaseUnits: 100_000_000n, dueBaseUnits: 100_000_000n },
      { vault: 'stake_vault', heldBaseUnits: 1_000_000_000n, dueBaseUnits: 1_000_000_000n },
    ]);
  });
});
