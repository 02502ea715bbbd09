import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { addModel, type CatalogModel, LAUNCH_CATALOG } from '../../stack/bootstrap.ts';
import { readBooks } from '../../testing/ledger/walletBooks.ts';
import { FORMS, requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';

/** Less than the tier's price of a request. */
const CREDITS = 7n;
const messages = [{ role: 'user', content: 'Say hello.' }];

let service: RunningService;
let unhosted: CatalogModel;
let wallet: { address: PublicKey; apiKey: string };

beforeAll(async () => {
  service = await startRunningService();
  wallet = await service.addWallet(CREDITS);
  unhosted = LAUNCH_CATALOG.find(({ tier }) => tier === 'lite') as CatalogModel;
  await addModel(service.operator, unhosted);
  // Until the API knows it, too.
  await until(async () => !('error' in (await service.get(`/v1/models/${unhosted.id}`))));
});

afterAll(() => service?.close());

describe.each(FORMS)('a refused %s completion', (form) => {
  const tooLong = [{ role: 'user', content: 'x'.repeat(300_000) }];

  it.each([
    ['for a bad field', 400, 'invalid_request', () => ({ temperature: 3 })],
    ['for an unknown model', 400, 'model_not_found', () => ({ model: 'none' })],
    ['for its length', 400, 'context_length_exceeded', () => ({ messages: tooLong })],
    ['for its credits', 402, 'insufficient_credits', () => ({ messages })],
    ['for want of a worker', 503, 'no_workers_available', () => ({ model: unhosted.id })],
  ])(
    'gets its error and locks nothing: %s [failures.nothing-locked]',
    async (_why, status, code, body) => {
      const { address, apiKey } = wallet;
      const answer = await requestCompletion(service, { form, apiKey, body: body() });
      expect(answer).toMatchObject({ status, error: { code } });
      expect(answer.headers['content-type']).toMatch('application/json');
      expect(answer.headers['x-svc-job-id']).toBeUndefined();
      expect(await readBooks(service, address)).toEqual({
        available: CREDITS,
        locked: 0n,
        jobs: [],
      });
    },
  );
});
