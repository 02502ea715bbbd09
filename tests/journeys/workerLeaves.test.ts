import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { workerUnhost } from '../../programs/client/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { readBooks } from '../../testing/ledger/walletBooks.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import { requestCompletion } from '../../testing/service/requestCompletion.ts';

const CREDITS = 100n;

let service: GatedService;

beforeAll(async () => {
  // Only its settlement acknowledges a job: by then its worker may have left.
  service = await startGatedService({ SVC_ACKNOWLEDGEMENT_LINGER_MS: '1000' });
});

afterAll(() => service?.close());

describe('a worker that leaves while it answers', () => {
  it('is not paid, and its client gets an error without a charge', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const [{ authority }] = service.workers as [GatedService['workers'][0]];
    const modelId = service.model.id;
    service.engine.play(async function* () {
      yield 'Hello.';
      const leave = workerUnhost({ authority: authority.publicKey, modelId });
      await submit(service.operator, [leave], [authority]);
    });
    const answer = await requestCompletion(service, { form: 'plain', apiKey });
    expect([answer.status, answer.error?.code]).toEqual([503, 'no_workers_available']);
    expect(await readBooks(service, address)).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: [{ status: 'failed', reason: 'worker_error', charged: 0n }],
    });
    await service.expectConserved();
  });
});
