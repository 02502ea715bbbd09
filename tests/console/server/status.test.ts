import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { StatusAnswer } from '../../../api/console/contracts/network.ts';
import { nodeUnavailable } from '../../../testing/ledger/ledgerGate.ts';
import { type GatedService, startGatedService } from '../../../testing/service/gatedService.ts';
import { until } from '../../../testing/until.ts';
import { type CallConsole, consoleAt, signIn } from './consoleScene.ts';

let service: GatedService;
let call: CallConsole;
let cookie: string;

beforeAll(async () => {
  service = await startGatedService({}, { queryTimeoutMs: 1_000 });
  call = consoleAt(service.baseUrl, new URL(service.baseUrl).origin, { isReal: true });
  cookie = await signIn(call, service.wallet);
});

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
      const status = await statusWith(({ parts }) => parts.database === 'away', as);
      expect(status).toMatchObject({ is_ready: false, parts: { ledger: 'ok', mirror: 'unknown' } });
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

    const status = await statusWith(({ parts }) => parts.ledger === 'away');

    expect(status).toMatchObject({ is_ready: false, parts: { database: 'ok' } });
  });
});
