import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type StartedProcess, startProcess } from '../../testing/childProcess.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';

const SETTLED = 'settled';
const REFUNDED = 'refunded';
const JOB_TIMEOUT_SECONDS = 120;
const STREAMS = 4;
/** At 10 ms a word an answer takes some seconds: long enough to be under way, short of the bound. */
const ANSWER_TOKENS = 300;
/** Minutes. */
const LONG_ANSWER_TOKENS = 20_000;
let service: RunningService;
let api: StartedProcess;

beforeEach(async () => {
  service = await startRunningService({ workers: ['endless'] });
  api = await service.startApiProcess();
});

afterEach(() => service.close());

/** Run before a process's own code: it is told to end while it says that it is ready. */
const ENDED_WHEN_READY = `
  const write = process.stdout.write;
  process.stdout.write = (...line) => {
    write.apply(process.stdout, line);
    process.kill(process.pid, 'SIGTERM');
    return true;
  };`;

/** Asks with a connection of its own, and returns when the answer has begun. */
async function ask(body: {
  url?: string;
  stream: boolean;
  content: string;
  maxTokens?: number;
}): Promise<IncomingMessage> {
  const request = http.request(`${body.url ?? api.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}` },
    agent: new http.Agent({ keepAlive: true }),
  });
  request.end(
    JSON.stringify({
      model: service.model.id,
      messages: [{ role: 'user', content: body.content }],
      stream: body.stream,
      max_tokens: body.maxTokens ?? ANSWER_TOKENS,
    }),
  );
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

/** Resolves with the error's code, or undefined when it could connect. */
async function connectionError(): Promise<string | undefined> {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, 'connect');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    socket.destroy();
  }
}

async function expectAllSettled(jobs: number): Promise<void> {
  const found = await service.untilJobs((all) => all.every(({ data }) => data.status === SETTLED));
  expect(found).toHaveLength(jobs);
  expect((await service.account()).lockedCredits).toBe(0n);
  await service.expectConserved();
}

describe('an API process that receives SIGTERM', () => {
  it('refuses new connections, completes running requests and exits with 0', async () => {
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, (_, index) =>
        ask({ stream: true, content: `Stream ${index}.` }),
      ),
    );
    const plain = ask({ stream: false, content: 'Plain.' });
    await service.untilJobs((jobs) => jobs.length === STREAMS + 1);
    api.signal('SIGTERM');
    await until(async () => (await connectionError()) === 'ECONNREFUSED');

    for (const stream of streams) {
      expect(await readText(stream)).toMatch(/data: \[DONE\]\n\n$/);
      expect(stream.trailers).toMatchObject({
        'x-svc-settlement-tx': expect.any(String),
        'x-svc-delivery-receipt': expect.any(String),
      });
    }
    const answer = await plain;
    expect([answer.statusCode, JSON.parse(await readText(answer)).object]).toEqual([
      200,
      'chat.completion',
    ]);
    expect(answer.headers).toMatchObject({ 'x-svc-settlement-tx': expect.any(String) });
    expect(await api.exited).toBe(0);
    await expectAllSettled(STREAMS + 1);
  });

  it('shuts down in order even at the moment it becomes ready', async () => {
    const ended = await startProcess('api/main.ts', {
      ...service.apiEnvironment,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(ENDED_WHEN_READY)}`,
    });
    expect(await ended.exited).toBe(0);
  });

  it('aborts what exceeds the shutdown time, and does not charge for it', async () => {
    const hasty = await startProcess('api/main.ts', {
      ...service.apiEnvironment,
      SVC_SHUTDOWN_TIMEOUT_MS: '1000',
    });
    const stream = await ask({
      ...{ url: hasty.url, stream: true, content: 'Stream.' },
      maxTokens: LONG_ANSWER_TOKENS,
    });
    hasty.signal('SIGTERM');
    await expect(readText(stream)).rejects.toThrow('aborted');
    expect(await hasty.exited).toBe(1);
    await service.advanceSeconds(JOB_TIMEOUT_SECONDS);
    const jobs = await service.untilJobs((all) =>
      all.every(({ data }) => data.status === REFUNDED),
    );
    expect(jobs).toHaveLength(1);
    expect((await service.account()).availableCredits).toBe(service.boughtCredits);
  });

  it('does not hurry at a second signal', async () => {
    const stream = await ask({ stream: true, content: 'Stream.' });
    api.signal('SIGTERM');
    await until(async () => (await connectionError()) === 'ECONNREFUSED');
    api.signal('SIGTERM');
    api.signal('SIGINT');
    expect(await readText(stream)).toMatch(/data: \[DONE\]\n\n$/);
    expect(await api.exited).toBe(0);
    await expectAllSettled(1);
  });

  it('closes idle kept-alive connections', async () => {
    const request = http.get(`${api.url}/health`, { agent: new http.Agent({ keepAlive: true }) });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const { socket } = response;
    const closed = once(socket, 'close');
    await readText(response);
    expect(socket.destroyed).toBe(false);
    expect(await api.terminate()).toBe(0);
    await closed;
  });
});
