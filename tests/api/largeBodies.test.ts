import { setImmediate } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { createLargeBodies } from '../../api/http/largeBodies/largeBodies.ts';
import { insertMirroredJobs } from '../../testing/database/jobListings.ts';
import { openCatalogued, PRICE } from './catalogued.ts';
import { insertAccount, openKeyedDatabase } from './keyedDatabase.ts';

const NOW_SECONDS = 1_800_000_000;
const database = await openKeyedDatabase();
const { pool } = database;
const open = (options: Partial<Parameters<typeof createLargeBodies>[0]> = {}) =>
  createLargeBodies({
    database: pool,
    catalog: openCatalogued(),
    nowSeconds: () => BigInt(NOW_SECONDS),
    ...options,
  });

afterAll(() => database.close());

const ONE = { wallet: 'one', address: '192.0.2.1' };
/** A wallet and address of its own. */
const stranger = (place: number) => ({ wallet: `w${place}`, address: `192.0.2.${place}` });
const refusedAs = (code: string, options: object) =>
  expect.objectContaining({ code, options: expect.objectContaining(options) });
const busy = (limit: number) =>
  refusedAs('rate_limit_exceeded', {
    retryAfterSeconds: 1,
    details: { limit, limit_of: expect.stringMatching(/^(address|wallet)$/) },
  });
const unavailable = refusedAs('service_unavailable', { retryAfterSeconds: 5 });

describe('a large body', () => {
  const unpaid = (credits_remaining: number) =>
    refusedAs('insufficient_credits', {
      details: expect.objectContaining({ credits_remaining, credits_required: PRICE }),
    });
  const funded = (availableCredits: number, lockedCredits = 0) =>
    insertAccount(pool, { wallet: ONE.wallet, availableCredits, lockedCredits });
  const ran = (status: string, secondsAgo: number, charged: number) =>
    insertMirroredJobs(pool, [
      { wallet: ONE.wallet, id: 'job', lockedAt: NOW_SECONDS - secondsAgo, status, model: 'm' },
    ]).then(() => pool.query('update mirror.jobs set charged_credits = $1', [charged]));

  it.each<[string, () => Promise<unknown>, unknown]>([
    ['of a wallet without an account', async () => {}, unpaid(0)],
    ['of one with less than the cheapest lock', () => funded(PRICE - 1), unpaid(PRICE - 1)],
    ['of one whose locked credits would do', () => funded(1, PRICE - 1), undefined],
    ['beside a recent job that is open', () => ran('pending', 720, 0), undefined],
    ['beside a recent job that was charged', () => ran('settled', 720, 2), undefined],
    ['beside an older one', () => ran('settled', 721, 2), unpaid(0)],
    ['beside a recent job that was refunded', () => ran('refunded', 0, 0), unpaid(0)],
  ])('is read or refused: %s', async (_case, given, refusal) => {
    await pool.query('truncate mirror.credit_accounts, mirror.jobs');
    await given();
    const refused = await open()
      .admit(ONE.wallet)
      .catch((error: unknown) => error);
    expect(refused).toEqual(refusal);
  });

  it('is refused while no price is known', async () => {
    const { admit } = open({ catalog: { list: () => [] } });
    await expect(admit(ONE.wallet)).rejects.toEqual(unavailable);
  });
});

describe('large bodies', () => {
  it('are parsed one at a time, wallets in turn, whichever sent more', async () => {
    const bodies = open();
    const parsed: string[] = [];
    let turns = 0;
    const counting = (async () => {
      while (parsed.length < 6) {
        await setImmediate();
        turns += 1;
      }
    })();
    let turnBefore = -1;
    const sent = ['greedy', 'greedy', 'greedy', 'honest', 'third', 'third'].map((wallet, place) =>
      bodies.inTurn(wallet, () => {
        parsed.push(`${wallet} ${place}`);
        expect(turns).toBeGreaterThan(turnBefore);
        turnBefore = turns;
        return place;
      }),
    );
    expect(await Promise.all(sent)).toEqual([0, 1, 2, 3, 4, 5]);
    await counting;
    expect(parsed).toEqual(['greedy 0', 'greedy 1', 'honest 3', 'third 4', 'greedy 2', 'third 5']);
  });

  it('that cannot be parsed keep no turn from others', async () => {
    const bodies = open();
    const refuse = () => {
      throw new RangeError('test');
    };
    await expect(bodies.inTurn('one', refuse)).rejects.toThrow('test');
    expect(await bodies.inTurn('one', () => 'next')).toBe('next');
  });
});

describe('what arrives of bodies', () => {
  it('is bounded for a wallet, an address and the process, until it is let go', () => {
    const { hold } = open({ bytesMax: { wallet: 10, address: 15, all: 20 } });
    const refused = hold(ONE);
    refused.keep(9);
    expect(() => refused.keep(11)).toThrow(busy(10));
    // What is refused gives way at once: many that arrive together do not refuse each other.
    const first = hold(ONE);
    first.keep(6);
    first.keep(10);
    expect(() => hold(ONE).keep(1)).toThrow(busy(10));
    const neighbour = hold({ ...ONE, wallet: 'two' });
    expect(() => neighbour.keep(6)).toThrow(busy(15));
    neighbour.keep(5);
    const far = hold(stranger(9));
    expect(() => far.keep(6)).toThrow(unavailable);
    far.keep(5);
    first.release();
    hold(ONE).keep(5);
    // What was let go counts no second time.
    first.release();
    expect(() => hold(stranger(8)).keep(6)).toThrow(unavailable);
  });
});
