import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { type Interceptor, nodeUnavailable } from '../../testing/ledger/ledgerGate.ts';
import { readBooks } from '../../testing/ledger/walletBooks.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import { FORMS, requestCompletion } from '../../testing/service/requestCompletion.ts';
import { until } from '../../testing/until.ts';

/** A node that takes everything but tells no time. */
const timeless: Interceptor = (request, forward) =>
  request.params?.[0] === SYSVAR_CLOCK_PUBKEY.toBase58()
    ? nodeUnavailable(request, forward)
    : forward(request);

let service: GatedService;
/** Started while the node was away. */
let api: Pick<GatedService, 'baseUrl' | 'apiKey' | 'model'>;

beforeAll(async () => {
  service = await startGatedService();
  await requestCompletion(service, { form: 'plain' });
  service.ledgerGate.intercept(nodeUnavailable);
  const { url: baseUrl } = await service.startApiProcess();
  api = { ...service, baseUrl };
});

afterAll(() => service?.close());

async function get(path: string, apiKey = service.apiKey) {
  const response = await fetch(`${api.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  // biome-ignore lint/suspicious/noExplicitAny: compared as a whole
  return { status: response.status, body: (await response.json()) as any };
}

describe('an API that started while its node was unavailable', () => {
  it('serves what the mirror has', async () => {
    expect(await get('/v1/jobs')).toMatchObject({
      status: 200,
      body: { data: [{ status: 'settled' }] },
    });
    expect(await get('/v1/account')).toMatchObject({ status: 200 });
    expect(await get('/v1/models')).toMatchObject({
      status: 200,
      body: { data: [{ id: service.model.id }] },
    });
    expect((await get('/health')).status).toBe(200);
  });

  it('is not ready, because it lacks the ledger', async () => {
    expect(await get('/ready')).toMatchObject({
      status: 503,
      body: { parts: { database: 'ok', ledger: 'away', workers: 'ok' } },
    });
  });

  it.each(FORMS)(
    "locks nothing for a %s request before it knows the ledger's time",
    async (form) => {
      const before = await readBooks(service, service.wallet.publicKey);
      // A lock would be taken: only its deadlines could not be judged.
      service.ledgerGate.intercept(timeless);
      const { status, headers, error } = await requestCompletion(api, { form });
      expect({ status, code: error?.code }).toEqual({ status: 503, code: 'service_unavailable' });
      expect(headers['retry-after']).toBe('5');
      expect(await readBooks(service, service.wallet.publicKey)).toEqual(before);
    },
  );

  it('refuses an unknown key before it reports the node as unavailable', async () => {
    const { error } = await requestCompletion(api, { form: 'plain', apiKey: 'svc_live_none' });
    expect(error?.code).toBe('invalid_api_key');
  });

  it('serves once the node is back, without a restart', async () => {
    service.ledgerGate.open();
    await until(async () => (await get('/ready')).status === 200);
    const { status, headers } = await requestCompletion(api, { form: 'plain' });
    expect(status).toBe(200);
    expect(headers['x-svc-settlement-tx']).toBeTruthy();
    await service.expectConserved();
  });
});
