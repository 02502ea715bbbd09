import { beforeEach, describe, expect, it } from '@jest/globals';
import { createKey, listKeys, revokeKey } from '../../api/account/keys.ts';
import { reinstateWallet, WalletSuspendedError } from '../../api/account/suspensions.ts';
import { createLogger } from '../../common/logger.ts';
import {
  createAbuseWatch,
  type Offence,
  rejectedDisputes,
  suspendOffenders,
  unpaidEndings,
} from '../../indexer/abuse/abuseWatch.ts';
import type { LedgerClock } from '../../programs/client/sender/index.ts';
import { insertMirroredJobs } from '../../testing/database/jobListings.ts';
import { ownMirror } from '../../testing/indexer/own.ts';
import { until } from '../../testing/until.ts';

const WALLET = '6gzUVgpPfHDoVcbGyA7Nzj4LUxq51XE8vyVvmA4LqyVD';
/** By the ledger's time. */
const NOW_SECONDS = 1_800_000_000n;
const HOUR_SECONDS = 3_600n;
const { pool } = await ownMirror();

beforeEach(async () => {
  await pool.query('truncate service.api_keys, service.key_suspensions, mirror.jobs');
  await createKey(pool, WALLET);
  await endJobs({
    ...{ client_gone: 3, empty_output: 2, worker_error: 4, lock_late: 4 },
    ...{ rejected: 2, expired: 1, upheld_gateway: 4 },
  });
});

/** So many jobs with each failure reason or outcome, which ended just now. */
async function endJobs(counts: Record<string, number>, lockedAt = NOW_SECONDS - 60n) {
  const ends = Object.entries(counts).flatMap(([end, count]) => Array(count).fill(end));
  const before = (await pool.query('select from mirror.jobs')).rowCount ?? 0;
  const idOf = (place: number) => `job_${before + place}`;
  await insertMirroredJobs(
    pool,
    ends.map((_end, place) => ({
      ...{ wallet: WALLET, id: idOf(place), lockedAt: Number(lockedAt) },
      ...{ status: 'failed', model: 'a model' },
    })),
  );
  for (const [place, end] of ends.entries()) {
    const isOutcome = ['rejected', 'expired', 'upheld_gateway'].includes(end);
    const columns = isOutcome ? 'outcome = $2, resolved_at' : 'failure_reason = $2, ended_at';
    await pool.query(`update mirror.jobs set ${columns} = $3 where job_id = $1`, [
      ...[idOf(place), end, NOW_SECONDS],
    ]);
  }
}

const suspend = (offence: Offence, offencesMax: number, nowSeconds = NOW_SECONDS) =>
  suspendOffenders(pool, { offence, offencesMax, nowSeconds });

const statusOfKey = async () => (await listKeys(pool))[0]?.status;

describe('abuse detection', () => {
  it('counts requests that clients left and empty answers, no other failure', async () => {
    expect(await suspend(unpaidEndings, 5)).toEqual([]);
    expect(await statusOfKey()).toBe('active');
    expect(await suspend(unpaidEndings, 4)).toEqual([{ wallet: WALLET, offences: 5n }]);
    expect(await statusOfKey()).toBe('suspended');
  });

  it('counts disputes that were rejected or expired, but not upheld ones [failures.abuse]', async () => {
    expect(await suspend(rejectedDisputes, 3)).toEqual([]);
    expect(await suspend(rejectedDisputes, 2)).toEqual([{ wallet: WALLET, offences: 3n }]);
  });

  it('looks back one hour for requests, 30 days for disputes, in ledger time', async () => {
    const [hour, month] = [NOW_SECONDS + HOUR_SECONDS, NOW_SECONDS + 30n * 24n * HOUR_SECONDS];
    expect(await suspend(unpaidEndings, 4, hour)).toEqual([]);
    expect(await suspend(unpaidEndings, 4, hour - 1n)).toHaveLength(1);
    await pool.query('truncate service.key_suspensions');
    expect(await suspend(rejectedDisputes, 2, month)).toEqual([]);
    expect(await suspend(rejectedDisputes, 2, month - 1n)).toHaveLength(1);
  });

  it('leaves alone who controlled its jobs itself, or never had a key here', async () => {
    await pool.query('update mirror.jobs set controller = wallet');
    expect(await suspend(unpaidEndings, 1)).toEqual([]);
    await pool.query(`update mirror.jobs set controller = 'a controller'`);
    await pool.query('truncate service.api_keys');
    expect(await suspend(unpaidEndings, 1)).toEqual([]);
  });

  it('counts only what a wallet does after it was forgiven', async () => {
    await suspend(unpaidEndings, 1);
    await reinstateWallet(pool, WALLET);
    expect(await suspend(unpaidEndings, 1)).toEqual([]);
    expect(await suspend(rejectedDisputes, 1)).toEqual([]);
    await endJobs({ client_gone: 2 }, NOW_SECONDS + 1n);
    expect(await suspend(unpaidEndings, 1)).toEqual([{ wallet: WALLET, offences: 2n }]);
  });

  it('suspends a wallet that revoked its key before it was judged', async () => {
    await revokeKey(pool, WALLET);
    expect(await suspend(unpaidEndings, 1)).toHaveLength(1);
    await expect(createKey(pool, WALLET)).rejects.toThrow(WalletSuspendedError);
  });
});

describe('a suspension', () => {
  it('is journaled with its author, the time and the reason, until it ends', async () => {
    await suspend(rejectedDisputes, 1);
    const why = { suspended_by: 'indexer', suspension_reason: 'rejected_disputes (3)' };
    expect(await listKeys(pool)).toMatchObject([{ wallet: WALLET, status: 'suspended', ...why }]);
    await reinstateWallet(pool, WALLET);
    expect(await listKeys(pool)).toMatchObject([{ status: 'active', suspension_reason: null }]);
    const { rows } = await pool.query(
      'select judged_at, lifted_at is not null as is_lifted from service.key_suspensions',
    );
    expect(rows).toEqual([{ judged_at: NOW_SECONDS, is_lifted: true }]);
  });

  it('is made once when several processes judge the wallet at the same time', async () => {
    const judged = await Promise.all(Array.from({ length: 4 }, () => suspend(unpaidEndings, 1)));
    expect(judged.flat()).toHaveLength(1);
    expect((await pool.query('select from service.key_suspensions')).rowCount).toBe(1);
  });
});

describe('the abuse watch', () => {
  it('suspends and counts where a limit is set, and skips other checks', async () => {
    const reasons: string[] = [];
    const stopping = new AbortController();
    const watch = createAbuseWatch({
      intervalMs: 5_000,
      limits: [
        { offence: unpaidEndings, offencesMax: 0 },
        { offence: rejectedDisputes, offencesMax: 1 },
      ],
      clock: { ready: Promise.resolve(), nowSeconds: () => NOW_SECONDS } as unknown as LedgerClock,
      ...{ database: pool, logger: createLogger({ name: 'test', level: 'silent' }) },
      metrics: { suspended: (reason) => void reasons.push(reason) },
    });
    const running = watch.run(stopping.signal);
    await until(async () => (await statusOfKey()) === 'suspended');
    stopping.abort();
    await running;
    expect(reasons).toEqual(['rejected_disputes']);
  });
});
