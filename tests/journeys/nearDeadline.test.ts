import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { untilDispatched, untilEnded } from '../../testing/ledger/walletBooks.ts';
import {
  type Answer,
  FORMS,
  type Form,
  openCompletion,
  readAnswer,
} from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { type Reply, startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';

const CREDITS = 1_000n;
/** A second after the moment at which answers under way are stopped. */
const STOP_SECONDS = 106;
/** More than an answer may stand still at that moment, less than makes it silent. */
const STANDSTILL_MS = 11_000;
const LIFE_MS = 200;
const THOUGHT = JSON.stringify({ choices: [{ index: 0, delta: { reasoning_content: 'Hm.' } }] });

let service: RunningService;
let upstream: UpstreamServer;

beforeAll(async () => {
  jest.spyOn(performance, 'now').mockImplementation(() => now() + leaptMs);
  upstream = await startUpstream();
  const engine = createUpstreamEngine({ url: upstream.url });
  service = await startRunningService({ workers: [engine] });
});

afterAll(async () => {
  await service?.close();
  upstream?.close();
  jest.restoreAllMocks();
});

/** Thinks aloud, which is no content, until the worker leaves. */
async function think(reply: Reply): Promise<void> {
  const thinking = setInterval(() => reply.raw(THOUGHT), LIFE_MS);
  await reply.closed;
  clearInterval(thinking);
}

/** By how much the process's clock leapt so far. It never goes back: every deadline rests on it. */
let leaptMs = 0;
const now = performance.now.bind(performance);

/** Has a wallet of its own ask, and calls `act` once the upstream has said what it says at first. */
async function complete(
  form: Form,
  script: (reply: Reply) => Promise<void>,
  act: () => Promise<void>,
): Promise<Answer & { books: Awaited<ReturnType<typeof untilEnded>> }> {
  const { address, apiKey } = await service.addWallet(CREDITS);
  let hasSpoken = false;
  upstream.answerWith(async (reply) => {
    const speaking = script(reply);
    hasSpoken = true;
    await speaking;
  });
  const answering = openCompletion(service, { form, apiKey }).then(readAnswer);
  await until(async () => hasSpoken);
  await untilDispatched(service, address, 1);
  await act();
  const answer = await answering;
  const books = await untilEnded(service, address, 1);
  await service.expectConserved();
  return { ...answer, books };
}

function finishChunk(body: string) {
  const chunks = body.split('\n').filter((line) => line.startsWith('data: {'));
  return JSON.parse(chunks.at(-1)?.replace('data: ', '') ?? 'null');
}

describe.each(FORMS)('15 s before the deadline, a %s answer', (form) => {
  it('with text, whose model still thinks, is stopped, proven, paid and marked as truncated', async () => {
    const answer = await complete(
      form,
      async (reply) => {
        reply.text('Hello');
        await think(reply);
      },
      () => service.advanceSeconds(STOP_SECONDS),
    );
    expect(answer.status).toBe(200);
    if (form === 'stream') {
      expect(finishChunk(answer.body)).toMatchObject({
        choices: [{ finish_reason: 'length' }],
        svc: { truncated: 'deadline' },
      });
      expect(answer.body).toMatch(/data: \[DONE\]\n\n$/);
    } else {
      expect(JSON.parse(answer.body).choices[0]).toMatchObject({
        finish_reason: 'length',
        message: { content: 'Hello' },
      });
      expect(answer.headers['x-svc-truncated']).toBe('deadline');
    }
    expect(answer.books).toEqual({
      ...{ available: CREDITS - 8n, locked: 0n },
      jobs: [{ status: 'settled', reason: 'none', charged: 8n }],
    });
  });

  it('with text, whose model was silent for more than 10 s, fails at once and costs nothing', async () => {
    const answer = await complete(
      form,
      async (reply) => {
        reply.text('Hello');
        await reply.closed;
      },
      async () => {
        leaptMs += STANDSTILL_MS;
        await service.advanceSeconds(STOP_SECONDS);
      },
    );
    expect(answer.status).toBe(form === 'stream' ? 200 : 500);
    expect(answer.error).toMatchObject({ code: 'worker_failed', type: 'server_error' });
    expect(answer.body).not.toContain('[DONE]');
    expect(answer.books).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: [{ status: 'failed', reason: 'worker_error', charged: 0n }],
    });
  });

  it('without content runs on to its deadline and is refunded, however much its model thinks', async () => {
    const answer = await complete(form, think, async () => {
      await service.advanceSeconds(STOP_SECONDS);
      await service.advanceSeconds(10);
      await service.advanceSeconds(10);
    });
    // What it thinks begins a stream.
    expect(answer.status).toBe(form === 'stream' ? 200 : 504);
    expect(answer.error).toMatchObject({
      ...{ code: 'job_timeout', type: 'timeout_error' },
      details: { credits_refunded: 8, refund_tx: expect.any(String) },
    });
    expect(answer.books).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: [{ status: 'refunded', reason: 'none', charged: 0n }],
    });
  });
});
