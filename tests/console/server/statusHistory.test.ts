import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { StatusAnswer } from '../../../api/console/contracts/network.ts';
import {
  insertMinute,
  selectIncidents,
  selectRecordedDays,
} from '../../../api/console/sql/status.ts';
import { deleteOldMeasurements } from '../../../indexer/background/expiredRows.ts';
import { nodeUnavailable } from '../../../testing/ledger/ledgerGate.ts';
import { type GatedService, startGatedService } from '../../../testing/service/gatedService.ts';
import { until } from '../../../testing/until.ts';
import { type CallConsole, consoleAt } from './consoleScene.ts';

const MINUTE_MS = 60_000;
/** Noon of a day that is over, so that its minutes are all of one day. */
const NOON_MS = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 2 * 86_400_000 + 43_200_000;

let service: GatedService;
let call: CallConsole;

beforeAll(async () => {
  service = await startGatedService();
  call = consoleAt(service.baseUrl, new URL(service.baseUrl).origin, { isReal: true });
});
afterAll(() => service?.close());
beforeEach(() => service.pool.query('delete from service.readiness_minutes'));

const at = (minute: number): Date => new Date(NOON_MS + minute * MINUTE_MS);

/** Minutes of that noon, each with the parts that were away in it. */
async function record(minutes: Readonly<Record<number, readonly string[]>>): Promise<void> {
  for (const [minute, away] of Object.entries(minutes)) {
    const values = [at(Number(minute)), away];
    await service.pool.query('insert into service.readiness_minutes values ($1, $2)', values);
  }
}

describe('what APIs record', () => {
  it('is which parts are away, once a minute', async () => {
    const rows = async () =>
      (await service.pool.query('select away from service.readiness_minutes')).rows;
    await service.time.advanceUntil(until(async () => (await rows()).length > 0));
    expect(await rows()).toEqual([{ away: [] }]);
  });

  it('is part of the status that everybody may see', async () => {
    service.ledgerGate.intercept(nodeUnavailable);
    const isRecorded = async () =>
      (await selectIncidents(service.pool, 50)).some(({ part }) => part === 'ledger');
    await service.time.advanceUntil(until(isRecorded));
    service.ledgerGate.open();
    const { history } = (await service.time.advanceUntil(call('GET /status'))).body as StatusAnswer;
    const recorded = history?.incidents.find(({ part }) => part === 'ledger');
    expect(recorded).toMatchObject({ ended_at: null });
    const today = history?.days.at(-1);
    expect(today?.away.ledger).toBeGreaterThanOrEqual(1);
    expect(today?.minutes).toBeGreaterThanOrEqual(today?.away.ledger ?? 0);
  });

  it('counts a part as away only when it is for every API', async () => {
    await insertMinute(service.pool, ['workers', 'ledger']);
    await insertMinute(service.pool, ['ledger', 'catalog']);
    const { rows } = await service.pool.query<{ away: string[] }>(
      'select away from service.readiness_minutes order by minute',
    );
    // They are two minutes where the clock's minute ended in between.
    const expected =
      rows.length === 1
        ? [['ledger']]
        : [
            ['ledger', 'workers'],
            ['catalog', 'ledger'],
          ];
    expect(rows.map(({ away }) => away)).toEqual(expected);
  });

  it('is forgotten after 90 days', async () => {
    await service.pool.query(`
      insert into service.readiness_minutes
      select now() - days * interval '1 day', '{}' from generate_series(80, 100, 5) as days`);
    await deleteOldMeasurements(service.pool);
    const { rows } = await service.pool.query('select from service.readiness_minutes');
    expect(rows).toHaveLength(2);
  });
});

describe('the history of the parts', () => {
  it('has by day the recorded minutes, and those in which each was away', async () => {
    await record({ 0: [], 1: ['workers'], 2: ['ledger', 'workers'], 3: [] });
    expect(await selectRecordedDays(service.pool)).toMatchObject([
      { minutes: 4, away: { workers: 2, ledger: 1 } },
    ]);
  });

  it('has an incident for minutes in a row of one part, the newest first', async () => {
    await record({ 0: [], 1: ['workers'], 2: ['ledger', 'workers'], 3: [], 4: ['workers'], 5: [] });
    expect(await selectIncidents(service.pool, 50)).toEqual([
      { part: 'workers', began_at: at(4), ended_at: at(5) },
      { part: 'ledger', began_at: at(2), ended_at: at(3) },
      { part: 'workers', began_at: at(1), ended_at: at(3) },
    ]);
    expect(await selectIncidents(service.pool, 1)).toHaveLength(1);
  });

  it('has no end of an incident that lasts', async () => {
    await record({ 0: [], 1: ['workers'], 2: ['workers'] });
    expect(await selectIncidents(service.pool, 50)).toEqual([
      { part: 'workers', began_at: at(1), ended_at: null },
    ]);
  });

  it('has an incident where nothing was recorded for longer than a minute', async () => {
    await record({ 0: [], 2: [], 7: [] });
    expect(await selectIncidents(service.pool, 50)).toEqual([
      { part: 'api', began_at: at(3), ended_at: at(7) },
    ]);
  });
});
