import { beforeAll, describe, expect, it } from '@jest/globals';
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
import { ownMirror, ownScene } from '../../testing/indexer/own.ts';
import { addresses } from '../../testing/indexer/scene.ts';
import { interceptedConnection } from '../../testing/ledger/interceptedConnection.ts';
import { contextOf } from './mirrorContext.ts';

const scene = await ownScene();
const mirror = await ownMirror();
let job: PublicKey;

beforeAll(async () => {
  [job] = (await scene.lock()) as [PublicKey];
  // A purchase leaves open what the vault held in its second: that second has to pass.
  await scene.wait(1);
  await catchUp();
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
  wait?: (number: number, ms: number) => Promise<void>;
} = {}) {
  let waits = 0;
  return reconcile({
    ...{ database: mirror.pool, connection, addresses, patienceMs },
    wait: (ms) => {
      waits += 1;
      return wait(waits, ms);
    },
  });
}

/** Where a token account's balance stands in its bytes. */
const AMOUNT_OFFSET = 64;

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

/** Damages the mirror for as long as it is compared. */
async function checkWith(damage: string, repair: string) {
  await mirror.pool.query(damage);
  const result = await check();
  await mirror.pool.query(repair);
  expect(isClean(result)).toBe(false);
  return result.differences;
}

describe('reconcile', () => {
  it('is refused for another program or ledger, and allowed without one', async () => {
    const own = { database: mirror.pool, node: scene.ledger.rpc, addresses };
    const other = { ...own, addresses: createAddresses(SystemProgram.programId) };
    await checkLedger(other);
    await bindLedger({ database: mirror.pool, source: scene.source, addresses });
    await checkLedger(own);
    await expect(checkLedger(other)).rejects.toThrow(`name program ${SystemProgram.programId}`);
    await mirror.pool.query(`update service.ledger set genesis_hash = 'another'`);
    await expect(checkLedger(own)).rejects.toThrow('with genesis hash another,');
    await mirror.pool.query('delete from service.ledger');
  });

  const account = () => scene.service.creditAccount.toBase58();
  const worker = () => scene.service.worker.toBase58();
  const model = () => addresses.model(scene.service.model.id).toBase58();
  /** A difference that the ledger and the journal show alike. */
  const shownByBoth = (...differences: object[]) =>
    (['ledger', 'journal'] as const).flatMap((against) =>
      differences.map((difference) => ({ against, ...difference })),
    );
  it.each<[string, () => { damage: string; repair: string; differences: object[] }]>([
    [
      'each column that differs, with its journal’s and its account’s value',
      () => ({
        damage: 'update credit_accounts set available_credits = 7',
        repair: 'update credit_accounts set available_credits = 9992',
        differences: shownByBoth({
          ...{ address: account(), column: 'available_credits', mirror: '7', expected: '9992' },
        }),
      }),
    ],
    [
      'a hosted model that the mirror lacks',
      () => ({
        damage: 'delete from worker_models',
        repair: `insert into worker_models values ('${worker()}', '${model()}')`,
        differences: shownByBoth({
          ...{ address: worker(), column: 'models', mirror: '', expected: model() },
        }),
      }),
    ],
    [
      'an account that only the ledger has, or only the mirror',
      () => ({
        damage: `update jobs set address = 'nowhere' where address = '${job}'`,
        repair: `update jobs set address = '${job}' where address = 'nowhere'`,
        differences: shownByBoth(
          { address: job.toBase58(), column: 'sequence', mirror: null, expected: '1' },
          { address: 'nowhere', column: 'sequence', mirror: '1', expected: null },
        ),
      }),
    ],
    [
      'a row that the journal does not explain',
      () => ({
        damage: `update journal set folded = false where event_name = 'CreditBought'`,
        repair: `update journal set folded = true where event_name = 'CreditBought'`,
        differences: [
          {
            ...{ against: 'journal', address: account(), column: 'sequence' },
            ...{ mirror: '3', expected: '1' },
          },
        ],
      }),
    ],
  ])('reports %s', async (_what, of) => {
    const { damage, repair, differences } = of();
    expect(await checkWith(damage, repair)).toEqual(differences);
  });

  it('reports a wrong row of a closed account from the journal alone', async () => {
    const gone = await checkWith(
      `update jobs set closed = true, escrow_tx = 'another'`,
      `update jobs set closed = false, escrow_tx = (
         select signature from journal where event_name = 'JobLocked')`,
    );
    expect(gone).toContainEqual(
      expect.objectContaining({ against: 'journal', address: `${job}`, column: 'escrow_tx' }),
    );
  });

  it('reports a vault with less than it owes, but not with more', async () => {
    const result = await check();
    const holding = (heldBaseUnits: bigint) => ({
      ...result,
      conservation: [{ vault: 'vault' as const, heldBaseUnits, dueBaseUnits: 100n }],
    });
    expect([99n, 100n, 101n].map((held) => isClean(holding(held)))).toEqual([false, true, true]);
  });

  it('pauses while tokens move, and then compares all but the vaults', async () => {
    const pausesMs: number[] = [];
    const connection = restless(scene.ledger.connection);
    const wait = async (_number: number, ms: number) => void pausesMs.push(ms);
    const result = await check({ connection, wait });
    expect(result).toMatchObject({ differences: [], conservation: null });
    expect(isClean(result)).toBe(true);
    expect(new Set(pausesMs)).toEqual(new Set([1_000]));
    expect(
      (await check({ connection: restless(scene.ledger.connection, 4) })).conservation,
    ).toHaveLength(2);
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
