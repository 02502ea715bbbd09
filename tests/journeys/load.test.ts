import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { reconcile } from '../../indexer/reconcile/reconcile.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { untilEnded } from '../../testing/ledger/walletBooks.ts';
import {
  ROUTED_FORMS,
  type RoutedForm,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

const REQUESTS = 200;
const CREDITS = 10_000n;
const CHARGE_CREDITS = 8n;
let service: RunningService;

beforeAll(async () => {
  service = await startRunningService({ workers: ['honest', 'honest'] });
  // However late the ledger is, no request is turned away for it.
  service.time.hold();
});

afterAll(async () => {
  service?.time.release();
  await service?.close();
});

describe(`${REQUESTS} concurrent requests of one wallet`, () => {
  it('are all settled and mirrored, with every credit conserved [charging.concurrent]', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const answers = await Promise.all(
      Array.from({ length: REQUESTS }, (_, seed) => {
        const [form, route] = ROUTED_FORMS[seed % ROUTED_FORMS.length] as RoutedForm;
        // Each has its own body, so that none is taken for a repeat.
        return requestCompletion(service, { form, route, apiKey, body: { seed } });
      }),
    );
    for (const { status, error } of answers) expect([status, error]).toEqual([200, undefined]);
    expect(await untilEnded(service, address, REQUESTS)).toEqual({
      available: CREDITS - BigInt(REQUESTS) * CHARGE_CREDITS,
      locked: 0n,
      jobs: Array(REQUESTS).fill({ status: 'settled', reason: 'none', charged: CHARGE_CREDITS }),
    });
    await service.expectConserved();
    await service.untilMirrored();
    const { differences } = await reconcile({
      database: service.pool,
      connection: service.ledger.connection,
      addresses: createAddresses(),
    });
    expect(differences).toEqual([]);
  });
});
