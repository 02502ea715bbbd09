import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findFreePort } from '../../stack/port.ts';
import { readStackFile } from '../../stack/stackFile.ts';
import { until } from '../../testing/until.ts';
import { startUpstream } from '../worker/upstreamServer.ts';
import { complete, createWorkplace, type Workplace } from './startedStack.ts';

const MODEL = 'small-model';

let place: Workplace;
beforeAll(async () => {
  place = await createWorkplace();
});
afterAll(() => place.close());

describe('a stack whose upstream is away', () => {
  it('names the upstream’s error code, also in a 503, and waits for a worker', async () => {
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}/v1`;
    const started = place.start({ WORKER_UPSTREAM_URL: url, WORKER_UPSTREAM_MODEL: MODEL });
    const fault = 'nothing listens at its address (ECONNREFUSED)';
    await until(() => /waiting .*\n/.test(started.output()) || started.process.exitCode !== null);
    const [waiting] = /waiting .*/.exec(started.output()) ?? [started.output()];
    expect(waiting).toMatch(
      `up to 30 s for a worker. No upstream answers at ${url}/models: ${fault}. Start it first.`,
    );
    const stack = readStackFile(join(place.folder, '.svc'));
    if (!stack) throw new Error(started.output());
    const refused = await fetch(`${stack.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: stack.model, messages: [{ role: 'user', content: 'Hello.' }] }),
    });
    const { error } = (await refused.json()) as { error: { code: string; message: string } };
    expect([refused.status, error.code]).toEqual([503, 'no_workers_available']);
    expect(error.message).toContain(fault);
    expect(readFileSync(join(place.folder, '.svc/logs/worker-1.log'), 'utf8')).toContain(fault);
    expect(started.output()).not.toContain('Try it:');

    const upstream = await startUpstream({ port });
    upstream.answerWith((reply) => {
      reply.text('Good morning.');
      reply.complete('stop', 5, 3);
    });
    upstream.answerTrialsWith((reply, model) => {
      if (model === undefined) return reply.refuse(200, { data: [{ id: MODEL }] });
      reply.text('Good');
      reply.finish('length');
      reply.end();
    });
    await until(() => started.output().includes('Try it:'));
    expect(await complete(stack)).toMatchObject({ text: 'Good morning.' });
    await started.stop();
    upstream.close();
  });
});
