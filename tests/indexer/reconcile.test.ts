import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Connection, type PublicKey, SystemProgram } from '@solana/web3.js';
import { bindLedger } from '../../indexer/mirror/bindLedger.ts';
import { sweep } from '../../indexer/mirror/sweep.ts';
import {
  checkLedger,
  holdsTooLittle,
  isBreach,
  isClean,
  reconcile,
} from '../../indexer/reconcile/reconcile.ts';
import { createAddresses, creditBuy, creditWithdraw } from '../../programs/client/index.ts';
import { mintTo } from '../../stack/operator.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { addresses, createScene, type Scene } from '../../testing/indexer/scene.ts';
import { interceptedConnection } from '../../testing/ledger/interceptedConnection.ts';
import { contextOf } from './mirrorContext.ts';

let scene: Scene;
let mirror: MirrorDatabase;
let job: PublicKey;

beforeAll(async () => {
  scene = await createScene();
  [job] = (await scene.lock()) as [PublicKey];
  // A purchase leaves open what the vault held in its second: that second has to pass.
  await scene.wait(1);
  mirror = await createMirrorDatabase();
  await catchUp();
});

afterAll(async () => {
  await mirror?.close();
  await scene?.ledger.close();
});

/** Does what the indexer does while it runs. */
async function catchUp(): Promise<void> {
  const client = await mirror.pool.connect();
  await sweep(contextOf(client, scene.source));
  client.release();
}

/** Nothing is waited for in earnest. @param wait called in place of each wait, with its number */
function check({
  patienceMs = 0,
  connection = scene.ledger.connection,
  wait = async () => {},
}: {
  patienceMs?: number;
  connection?: Connection;
  wait?: (number: number) => Promise<void>;
} = {}) {
  let waits = 0;
  return reconcile({
    ...{ database: mirror.pool, connection, addresses, patienceMs },
    wait: () => {
      waits += 1;
      return wait(waits);
    },
  });
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

  it('is refused for another program or ledger, and allowed without one', async () => {
    const own = { database: mirror.pool, node: scene.ledger.rpc, addresses };
    const other = { ...own, addresses: createAddresses(SystemProgram.programId) };
    await checkLedger(other);
    await bindLedger({ database: mirror.pool, source: scene.source, addresses });
    await checkLedger(own);
    await expect(checkLedger(other)).rejects.toThrow(`name program ${SystemProgram.programId}`);
    await mirror.pool.query(`update ledger set genesis_hash = 'another'`);
    await expect(checkLedger(own)).rejects.toThrow('with genesis hash another,');
    await mirror.pool.query('delete from ledger');
  });

  it('reports each column that differs, with its journal’s or account’s value', async () => {
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

  it('reports an account that only the ledger has, or only the mirror', async () => {
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

  it('reports a wrong row of a closed account from the journal alone', async () => {
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

  it('reports a row that the journal does not explain', async () => {
    const address = scene.service.creditAccount.toBase58();
    const differences = await checkWith(
      `update journal set folded = false where event_name = 'CreditBought'`,
      `update journal set folded = true where event_name = 'CreditBought'`,
    );
    expect(differences).toEqual([
      { against: 'journal', address, column: 'sequence', mirror: '3', expected: '1' },
    ]);
  });

  it('does not report a mirror that is a moment behind', async () => {
    await scene.lock();
    const { differences, behind } = await check({ wait: catchUp });
    expect({ differences, behind }).toEqual({ differences: [], behind: null });
  });

  it('returns what the vaults hold and what they owe', async () => {
    const { conservation } = await check();
    expect(conservation).toEqual([
      { vault: 'vault', heldBaseUnits: 100_000_000n, dueBaseUnits: 100_000_000n },
      { vault: 'stake_vault', heldBaseUnits: 1_000_000_000n, dueBaseUnits: 1_000_000_000n },
    ]);
  });

  it('reports a vault with less than it owes, but not with more', async () => {
    const result = await check();
    const holding = (heldBaseUnits: bigint) => ({
      ...result,
      conservation: [{ vault: 'vault' as const, heldBaseUnits, dueBaseUnits: 100n }],
    });
    expect([99n, 100n, 101n].map((held) => isClean(holding(held)))).toEqual([false, true, true]);
  });

  it('reports no shortage for a purchase that is withdrawn at once', async () => {
    const { operator, mints, wallet: owner } = scene.service;
    const buyer = operator.authority.publicKey;
    const purse = mintTo(operator, { mint: mints.credit, owner: buyer, baseUnits: 1_000_000n });
    await scene.send(purse.instructions, []);
    const amount = { wallet: owner.publicKey, credits: 100n };
    const buy = creditBuy({ buyer, buyerTokenAccount: purse.account, ...amount });
    const withdraw = creditWithdraw({ destination: purse.account, ...amount });
    let isFlipped = false;
    const connection = interceptedConnection(scene.ledger.rpcUrl, async (request, forward) => {
      if (request.method !== 'getProgramAccounts' || isFlipped) return forward(request);
      isFlipped = true;
      await scene.send([buy], []);
      const answer = await forward(request);
      await scene.send([withdraw], [owner]);
      await catchUp();
      return answer;
    });
    // A purchase leaves open what the vault held in its second.
    const result = await check({ connection, wait: () => scene.wait(1) });
    expect(isFlipped).toBe(true);
    expect(result.conservation?.filter(holdsTooLittle)).toEqual([]);
  });
});

describe('reconcile, with a mirror behind the ledger,', () => {
  /** Of which the mirror knows all, and of which it knows nothing. */
  let known: PublicKey;
  let locked: PublicKey;
  beforeAll(async () => {
    [known] = (await scene.lock()) as [PublicKey];
    await catchUp();
    await scene.acknowledge(job);
    await scene.settle(job);
    [locked] = (await scene.lock()) as [PublicKey];
  });

  async function newestSlot(): Promise<number> {
    const { connection } = scene.ledger;
    const [newest] = await connection.getSignaturesForAddress(addresses.programId, { limit: 1 });
    return newest?.slot ?? 0;
  }

  async function cursorSlot(): Promise<number> {
    const { rows } = await mirror.pool.query(`select slot from cursors where name = 'confirmed'`);
    return Number(rows[0].slot);
  }

  async function moveCursorTo(slot: number): Promise<void> {
    await mirror.pool.query(`update cursors set slot = $1 where name = 'confirmed'`, [slot]);
  }

  it('returns the lag in slots and no difference for later changes', async () => {
    const result = await check();
    expect(result).toMatchObject({
      differences: [],
      behind: { slots: (await newestSlot()) - (await cursorSlot()) },
    });
    expect([isClean(result), isBreach(result)]).toEqual([false, false]);
  });

  it('reports a missing account whose last change the mirror has passed', async () => {
    const address = known.toBase58();
    await mirror.pool.query('update jobs set sequence = 0 where address = $1', [address]);
    const { differences, behind } = await check();
    await mirror.pool.query('update jobs set sequence = 1 where address = $1', [address]);
    const difference = { address, column: 'sequence', mirror: '0', expected: '1' };
    expect(differences).toContainEqual({ against: 'ledger', ...difference });
    expect(behind?.accounts).toBeGreaterThan(0);
  });

  it('expects that the slot at the cursor may be stored in part', async () => {
    const before = await cursorSlot();
    await moveCursorTo(await newestSlot());
    const { differences, behind } = await check();
    await moveCursorTo(before);
    // It lacks the settlement, which is past; the lock, in that very slot, it may yet store.
    const addressesOf = differences.map(({ address }) => address);
    expect(addressesOf).toContain(job.toBase58());
    expect(addressesOf).not.toContain(locked.toBase58());
    expect(behind?.slots).toBe(0);
  });

  /** Without patience there are four waits. */
  const atFifth = (happens: () => Promise<void>) => async (number: number) =>
    number === 5 ? happens() : undefined;

  it('waits for the mirror up to its limit, then compares everything', async () => {
    const result = await check({ patienceMs: 600_000, wait: atFifth(catchUp) });
    expect(result).toMatchObject({ differences: [], behind: null });
    expect(isClean(result)).toBe(true);
  });

  it('does not report a job that is closed during the comparison', async () => {
    await scene.fail(known);
    const wait = atFifth(async () => {
      await catchUp();
      await scene.wait(200);
      await scene.close(known);
    });
    const result = await check({ patienceMs: 600_000, wait });
    expect(result).toMatchObject({ differences: [], behind: null });
    await catchUp();
  });

  it("reports a wrong account even when strangers' transactions mention it", async () => {
    const toPubkey = addresses.model(scene.service.model.id);
    const fromPubkey = scene.ledger.payer.publicKey;
    await scene.send([SystemProgram.transfer({ fromPubkey, toPubkey, lamports: 1 })], []);
    const differences = await checkWith(
      'update models set sequence = 0',
      'update models set sequence = 1',
    );
    expect(differences).toContainEqual(
      expect.objectContaining({ against: 'ledger', address: toPubkey.toBase58() }),
    );
  });
});
