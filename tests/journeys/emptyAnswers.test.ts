import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listKeys } from '../../api/account/keys.ts';
import { REQUEST_BYTES_MAX } from '../../common/workerProtocol.ts';
import { untilEnded } from '../../testing/ledger/walletBooks.ts';
import {
  FORMS,
  type Form,
  requestCompletion,
  sample,
} from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { type Reply, startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';

const CREDITS = 1_000n;
/** How many unpaid endings a wallet may have within an hour. */
const UNPAID_ENDINGS_MAX = 2;
const EMPTY = { status: 'failed', reason: 'empty_output', charged: 0n };

let service: RunningService;
let upstreams: UpstreamServer[];

beforeAll(async () => {
  upstreams = [await startUpstream(), await startUpstream()];
  service = await startRunningService({
    // One job at a time, so that a test can have the other one asked.
    workers: upstreams.map(({ url }) => ({ engine: createUpstreamEngine({ url }), capacity: 1 })),
    apiSettings: { METRICS_PORT: '0' },
    indexerSettings: { SVC_ABUSE_UNPAID_ENDINGS_PER_HOUR: String(UNPAID_ENDINGS_MAX) },
    indexerLimits: { abuseIntervalMs: 100 },
  });
});

afterAll(async () => {
  await service?.close();
  for (const { close } of upstreams) close();
});

function sayNothing(reply: Reply): void {
  reply.complete('stop');
}

function think(reply: Reply): void {
  const delta = { reasoning_content: 'I wonder what to say, and what not. '.repeat(30) };
  reply.raw(JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] }));
  reply.complete('length');
}

/** What the API has counted against each worker. */
function incidents(): Promise<(number | undefined)[]> {
  const ofWorker = ({ address }: { address: string }) =>
    sample(service, `svc_api_worker_failures_total{worker="${address}"}`);
  return Promise.all(service.workers.map(ofWorker));
}

/** Has a wallet of its own ask until its key is suspended. @returns how its jobs ended */
async function askUntilSuspended(form: Form, body: Record<string, unknown>) {
  const { address, apiKey } = await service.addWallet(CREDITS);
  const statuses: number[] = [];
  for (let request = 0; request <= UNPAID_ENDINGS_MAX; request += 1) {
    statuses.push((await requestCompletion(service, { form, apiKey, body })).status);
  }
  const { jobs, available } = await untilEnded(service, address, UNPAID_ENDINGS_MAX + 1);
  const wallet = address.toBase58();
  await until(async () =>
    (await listKeys(service.pool)).some(
      (key) => key.wallet === wallet && key.status === 'suspended',
    ),
  );
  expect((await requestCompletion(service, { form, apiKey, body })).status).toBe(403);
  return { jobs, available, statuses };
}

describe.each(FORMS)('a wallet whose %s requests empty their answers', (form) => {
  const asked = () => upstreams.reduce((sum, { requests }) => sum + requests.length, 0);

  it.each([
    [{ logit_bias: { '2': 100 } }, sayNothing, 500, 2],
    [{ response_format: { type: 'json_object' } }, sayNothing, 500, 2],
    [{ stop: 'a' }, sayNothing, 200, 2],
    [{ max_tokens: 2 }, sayNothing, 500, 2],
    [{ max_completion_tokens: 200 }, think, 200, 1],
    // The prompt alone can do it, too: of two workers both say nothing.
    [{}, sayNothing, 500, 2],
  ])(
    'by %j bears that itself, and no worker does [failures.abuse]',
    async (body, script, status, times) => {
      for (const { answerWith } of upstreams) answerWith(script);
      const [before, askedBefore] = [await incidents(), asked()];
      const { jobs, available, statuses } = await askUntilSuspended(form, body);
      const count = UNPAID_ENDINGS_MAX + 1;
      expect(statuses).toEqual(Array(count).fill(status));
      expect([jobs, available]).toEqual([Array(count).fill(EMPTY), CREDITS]);
      expect(asked() - askedBefore).toBe(count * times);
      expect(await incidents()).toEqual(before);
    },
  );
});

describe('a worker that gives an answer without text where another has one', () => {
  it('bears that itself', async () => {
    const [mute, sound] = upstreams as [UpstreamServer, UpstreamServer];
    const opened = Promise.withResolvers<void>();
    mute.answerWith(sayNothing);
    sound.answerWith(async (reply) => {
      await opened.promise;
      reply.text('Hello');
      sayNothing(reply);
    });
    const [before, askedBefore] = [await incidents(), mute.requests.length];
    const { address, apiKey } = await service.addWallet(CREDITS);
    const ask = () => requestCompletion(service, { form: 'plain', apiKey });
    // While the sound one is at work, the other one is asked, if it was not at first.
    const answers = [ask(), ask()];
    await until(() => mute.requests.length > askedBefore && sound.requests.length > 0);
    opened.resolve();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
    const [ofMute = 0, ofSound] = await incidents();
    expect(ofMute).toBeGreaterThan(before[0] ?? 0);
    expect(ofSound).toBe(before[1]);
    // Its public page has each attempt; two that ran together are one incident.
    await until(async () => {
      const { rows } = await service.pool.query('select sum(failures) from service.worker_hours');
      return Number(rows[0].sum) === mute.requests.length - askedBefore;
    });
    const { jobs } = await untilEnded(service, address, 2);
    expect(jobs).toEqual(Array(2).fill({ status: 'settled', reason: 'none', charged: 8n }));
  });
});

describe('a request that grows as much as it may on its way to a worker', () => {
  it('is taken by every worker, and answered', async () => {
    for (const { answerWith } of upstreams) {
      answerWith((reply) => {
        reply.text('Hello');
        sayNothing(reply);
      });
    }
    // Four bytes here, and 16 in the plain digits that the worker gets.
    const numbers = '9e15,'.repeat(16_000);
    const parts = [
      `{"model": "${service.model.id}", "messages": [{"role": "user", "content": "Hi"}], `,
      `"chat_template_kwargs": {"numbers": [${numbers}1], "rest": "`,
      '"}}',
    ];
    const rest = 'x'.repeat(REQUEST_BYTES_MAX - parts.join('').length);
    const response = await fetch(`${service.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
      body: `${parts[0]}${parts[1]}${rest}${parts[2]}`,
    });
    expect(response.status).toBe(200);
    const asked = service.workers.flatMap(({ requests }) => requests);
    const lengths = asked.map(({ body }) => body().length);
    expect(Math.max(...lengths)).toBeGreaterThan(REQUEST_BYTES_MAX);
  });
});
