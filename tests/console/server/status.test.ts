import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { StatusAnswer } from '../../../api/contracts/network.ts';
import { insertMinute, selectIncidents, selectRecordedDays } from '../../../api/sql/status.ts';
import { deleteOldMeasurements } from '../../../indexer/background/expiredRows.ts';
import { nodeUnavailable } from '../../../testing/ledger/ledgerGate.ts';
import { type GatedService, startGatedService } from '../../../testing/service/gatedService.ts';
import { until } from '../../../testing/until.ts';
import { type CallConsole, consoleAt, signIn } from './consoleScene.ts';

const MINUTE_MS = 60_000;
/** Noon of a day that is over, so that its minutes are all of one day. */
const NOON_MS = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 2 * 86_400_000 + 43_200_000;

let service: GatedService;
let call: CallConsole;
let cookie: string;

beforeAll(async () => {
  service = await startGatedService({}, { queryTimeoutMs: 1_000 });
  call = consoleAt(service.baseUrl, new URL(service.baseUrl).origin, { isReal: true });
  cookie = await signIn(call, service.wallet);
});

beforeEach(() => service.pool.query('delete from service.readiness_minutes'));

afterEach(async () => {
  service.databaseGate.thaw();
  await service.databaseGate.open();
  service.ledgerGate.open();
});

afterAll(() => service?.close());

/** Waits for an answer that shows the parts as they are: the last one may be two seconds old. */
async function statusWith(
  holds: (status: StatusAnswer) => boolean,
  as?: string,
): Promise<StatusAnswer> {
  let status: StatusAnswer | undefined;
  await until(async () => {
    const answer = await service.time.advanceUntil(call('GET /status', { cookie: as }));
    expect(answer.status).toBe(200);
    status = answer.body as StatusAnswer;
    return holds(status);
  });
  return status as StatusAnswer;
}

describe('the status', () => {
  it.each([
    ['refuses connections', (gate: GatedService['databaseGate']) => gate.shut()],
    ['answers nothing', async (gate: GatedService['databaseGate']) => gate.freeze()],
  ])('shows everybody that the database is away when it %s', async (_how, shut) => {
    await statusWith(({ is_ready }) => is_ready);
    await shut(service.databaseGate);

    for (const as of [undefined, cookie]) {
      // Time goes on while a starved process answers, so that another part may seem to be away at first.
      const status = await statusWith(
        ({ parts }) => parts.database === 'away' && parts.ledger === 'ok',
        as,
      );
      expect(status).toMatchObject({ is_ready: false, parts: { mirror: 'unknown' } });
      expect([status.queues, status.days]).toEqual([null, null]);
    }
    const session = await service.time.advanceUntil(call('GET /session', { cookie }));
    expect(session.status).toBe(503);

    service.databaseGate.thaw();
    await service.databaseGate.open();
    const back = await statusWith(({ is_ready }) => is_ready);
    expect(back.queues).toMatchObject({ open_disputes: 0 });
  });

  it("shows that the ledger's node is away", async () => {
    service.ledgerGate.intercept(nodeUnavailable);

    const status = await statusWith(
      ({ parts }) => parts.ledger === 'away' && parts.database === 'ok',
    );

    expect(status).toMatchObject({ is_ready: false });
  });
});

const at = (minute: number): Date => new Date(NOON_MS + minute * MINUTE_MS);

/** Minutes of that noon, each with the parts that were away in it. */
async function record(minutes: Readonly<Record<number, readonly string[]>>): Promise<void> {
  for (const [minute, away] of Object.entries(minutes)) {
    const values = [at(Number(minute)), away];
    await service.pool.query('insert into service.readiness_minutes values ($1, $2)', values);
  }
}

describe('what APIs record', () => {
  it('is part of the status that everybody may see', async () => {
    service.ledgerGate.intercept(nodeUnavailable);
    const recordedIn = ({ history }: StatusAnswer) =>
      history?.incidents.find(({ part }) => part === 'ledger');
    const status = await statusWith((one) => recordedIn(one) !== undefined);
    expect(recordedIn(status)).toMatchObject({ ended_at: null });
    const { history } = status;
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
  /** Of that noon: the API of this service may record a minute of its own. */
  const incidents = async () =>
    (await selectIncidents(service.pool, 50)).filter(({ began_at }) => began_at < at(5));

  it('has an incident for minutes in a row of one part, the newest first', async () => {
    await record({ 0: [], 1: ['workers'], 2: ['ledger', 'workers'], 3: [], 4: ['workers'], 5: [] });
    expect(await incidents()).toEqual([
      { part: 'workers', began_at: at(4), ended_at: at(5) },
      { part: 'ledger', began_at: at(2), ended_at: at(3) },
      { part: 'workers', began_at: at(1), ended_at: at(3) },
    ]);
    expect(await selectIncidents(service.pool, 1)).toHaveLength(1);
    const [noon] = await selectRecordedDays(service.pool);
    expect(noon).toMatchObject({ minutes: 6, away: { workers: 3, ledger: 1 } });
  });

  it('has an incident where nothing was recorded for longer than a minute', async () => {
    await record({ 0: [], 2: [], 7: [] });
    expect(await incidents()).toEqual([{ part: 'api', began_at: at(3), ended_at: at(7) }]);
  });
});
