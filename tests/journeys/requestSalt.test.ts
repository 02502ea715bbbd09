import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../common/logger.ts';
import { type Receiver, startReceiver } from '../../testing/indexer/receiver.ts';
import { FORMS, requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { WEBHOOK_KINDS } from '../../webhooks/events.ts';

let service: RunningService;
let receiver: Receiver;
beforeAll(async () => {
  service = await startRunningService();
  receiver = await startReceiver();
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

/** Every row of every table, as text. */
async function readTables(): Promise<string> {
  const { rows: tables } = await service.pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const texts = tables.map(async ({ name }) => {
    const { rows } = await service.pool.query(`select t::text as text from ${name} t`);
    return rows.map(({ text }) => text).join('\n');
  });
  return (await Promise.all(texts)).join('\n');
}

describe('the salt of a paid request', () => {
  it('is a new one for each job, in no log, table, webhook or URL', async () => {
    const lines: string[] = [];
    const into = { write: (line: string) => void lines.push(line) };
    const logger = createLogger({ name: 'api', level: 'trace', into });
    const { url: baseUrl } = await service.startInstance({}, logger);
    await fetch(`${baseUrl}/v1/webhooks`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.apiKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ url: receiver.url, events: WEBHOOK_KINDS }),
    });
    const answers = await Promise.all(
      FORMS.map((form) => requestCompletion({ ...service, baseUrl }, { form })),
    );
    const ids = answers.map(({ headers }) => String(headers['x-svc-job-id']));
    const { received } = receiver;
    const hasEvent = (id: string) =>
      received.some(({ body }) => body.includes('job.completed') && body.includes(id));
    await until(() => ids.every(hasEvent));

    const requests = service.workers.flatMap((worker) => worker.requests);
    const jobs = requests.filter(({ path }) => path === '/jobs');
    const salts = jobs.map(({ body }) => String(JSON.parse(String(body())).request_salt));
    expect(salts).toEqual(FORMS.map(() => expect.stringMatching(/^[0-9a-f]{64}$/)));
    expect(new Set(salts).size).toBe(FORMS.length);

    const urls = JSON.stringify(requests.map(({ path, headers }) => [path, headers]));
    const webhooks = JSON.stringify(received);
    const places = { logs: lines.join(), tables: await readTables(), webhooks, urls };
    for (const id of ids) expect(places.tables).toContain(id);
    for (const [place, text] of Object.entries(places)) {
      expect([place, text.length > 100]).toEqual([place, true]);
      for (const salt of salts.map((hex) => Buffer.from(hex, 'hex'))) {
        for (const encoding of ['hex', 'base64', 'base64url'] as const) {
          expect([place, text.includes(salt.toString(encoding))]).toEqual([place, false]);
        }
      }
    }
  });
});
