import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { FORMS, requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';

const PROMPT = 'a private prompt';
let service: RunningService;
let api: StartedProcess;

beforeAll(async () => {
  service = await startRunningService({ workers: ['honest'] });
  api = await service.startApiProcess({ LOG_LEVEL: 'info' });
});

afterAll(() => service?.close());

const answeredLines = () =>
  api
    .logged()
    .split('\n')
    .filter((line) => line.includes('Answered a request'))
    .map((line) => JSON.parse(line));

describe('the access log', () => {
  it.each(FORMS)(
    'has one line for a %s completion, with wallet, model, worker and durations [surface.access-log]',
    async (form) => {
      const before = answeredLines().length;
      const body = { messages: [{ role: 'user', content: PROMPT }] };
      const answer = await requestCompletion({ ...service, baseUrl: api.url }, { form, body });
      await until(async () => answeredLines().length > before);
      expect(answeredLines().slice(before)).toEqual([
        expect.objectContaining({
          request_id: answer.headers['x-request-id'],
          job_id: answer.headers['x-svc-job-id'],
          wallet: service.wallet.publicKey.toBase58(),
          model: service.model.id,
          worker: service.workers[0]?.address,
          method: 'POST',
          route: '/v1/chat/completions',
          status: '200',
          code: 'none',
          lock_ms: expect.any(Number),
          worker_ms: expect.any(Number),
          duration_ms: expect.any(Number),
        }),
      ]);
    },
  );

  it('has no line for probes that succeed, and no prompt, answer or key in any line', async () => {
    const before = answeredLines().length;
    await fetch(`${api.url}/health`);
    await fetch(`${api.url}/ready`);
    await fetch(`${api.url}/v1/nothing`);
    await until(async () => answeredLines().length > before);
    expect(answeredLines().slice(before)).toMatchObject([{ route: 'none', status: '404' }]);
    expect(api.logged()).not.toContain(PROMPT);
    expect(api.logged()).not.toContain(service.apiKey);
  });
});
