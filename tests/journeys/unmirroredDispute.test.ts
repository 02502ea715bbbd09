import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

let service: RunningService;

beforeAll(async () => {
  service = await startRunningService({ workers: ['inflates_count'], indexer: 'process' });
  service.indexer.signal('SIGSTOP');
});

afterAll(async () => {
  service.indexer.signal('SIGCONT');
  await service.close();
});

describe('a disputed job that is missing in the mirror', () => {
  it("shows the charged usage, not the worker's claim", async () => {
    const { headers, body } = await service.time.advanceUntil(
      requestCompletion(service, { form: 'plain' }),
    );
    const { prompt_tokens, completion_tokens, total_tokens } = JSON.parse(body).usage;
    const usage = { prompt_tokens, completion_tokens, total_tokens };
    const path = `/v1/jobs/${headers['x-svc-job-id']}`;
    const asking = fetch(`${service.baseUrl}${path}/dispute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}` },
      body: JSON.stringify({ received_output_hash: `sha256:${'0'.repeat(64)}` }),
    });
    const response = await service.time.advanceUntil(asking);
    expect(await response.json()).toMatchObject({ dispute_opened: true });
    expect(await service.get(path)).toMatchObject({ status: 'disputed', usage });

    service.indexer.signal('SIGCONT');
    await service.untilMirrored();
    expect(await service.get(path)).toMatchObject({ status: 'disputed', usage });
  });
});
