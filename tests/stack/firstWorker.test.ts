import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findFreePort } from '../../stack/port.ts';
import { announce, describeUnready } from '../../stack/workers/firstWorker.ts';
import { createMovableTime, type MovableTime } from '../../testing/movableTime.ts';
import { until } from '../../testing/until.ts';
import { startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';

const RUNNING = 'Try it.';
const servers: Server[] = [];
const upstreams: UpstreamServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
  for (const upstream of upstreams.splice(0)) upstream.close();
});

/** Answers every request with this JSON. @returns its address */
async function serve(answer: () => object): Promise<string> {
  const server = createServer((_request, response) => {
    response.end(JSON.stringify(answer()));
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the end of a start', () => {
  let time: MovableTime;
  let ending: AbortController;
  let workers: 'ok' | 'away';
  let asked: number;
  let lines: string[];
  beforeEach(() => {
    time = createMovableTime();
    time.hold();
    ending = new AbortController();
    workers = 'away';
    asked = 0;
    lines = [];
  });

  async function begin(): Promise<{ isOver: Promise<void> }> {
    const apiUrl = await serve(() => {
      asked += 1;
      return { parts: { workers } };
    });
    const isOver = announce({
      apiUrl,
      explain: async () => 'It loads.',
      report: (detail) => lines.push(detail),
      write: (text) => lines.push(text),
      lines: { running: RUNNING, waiting: (reason) => `None yet. ${reason}` },
      ending: ending.signal,
      time,
    });
    return { isOver };
  }

  /** Until it has its answer, and waits for the time of the next question. */
  const untilItWaits = () => until(() => time.waiters() === 1);

  /** Moves on until it asks again. */
  async function pass(ms: number): Promise<void> {
    await untilItWaits();
    const before = asked;
    time.advance(ms);
    await until(() => asked > before);
  }

  it('waits with one line while none does, and says it afterwards', async () => {
    const { isOver } = await begin();
    await until(() => lines.length === 1);
    for (let passed = 0; passed < 5; passed += 1) await pass(500);
    await untilItWaits();
    expect(lines).toEqual(['up to 30 s for a worker. It loads.']);
    workers = 'ok';
    await pass(500);
    await isOver;
    expect(lines.slice(1)).toEqual([RUNNING]);
  });

  it('reports after 30 s that it goes on without one, and still afterwards', async () => {
    const { isOver } = await begin();
    await until(() => lines.length === 1);
    await pass(29_999);
    await untilItWaits();
    expect(lines).toHaveLength(1);
    await pass(500);
    await isOver;
    expect(lines.slice(1)).toEqual(['None yet. It loads.']);
    await untilItWaits();
    workers = 'ok';
    await pass(500);
    await until(() => lines.length > 2);
    expect(lines.slice(2)).toEqual([RUNNING]);
  });

  it('ends without a word when everything ends', async () => {
    const { isOver } = await begin();
    await until(() => lines.length === 1);
    ending.abort();
    await isOver;
    expect(lines).toHaveLength(1);
  });
});

describe('why no worker takes jobs', () => {
  const unready = (reason: string) => serve(() => ({ error: { message: reason } }));
  const describeWith = async (reason: string, upstreamUrl?: string) =>
    describeUnready({ workerUrls: [await unready(reason)], upstreamUrl, upstreamKey: undefined });

  it('is what a worker says, where it has no upstream', async () => {
    expect(await describeWith('The ledger is away')).toBe('The ledger is away.');
  });

  it('is the upstream that is away, with the code of its connection', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}/v1`;
    expect(await describeWith('It fails', url)).toBe(
      `No upstream answers at ${url}/models: nothing listens at its address (ECONNREFUSED). Start it first.`,
    );
  });

  it.each<[string, number, object, string]>([
    [
      'that still loads',
      503,
      {},
      '/models answers with status 503. It may still load its model: try again soon.',
    ],
    [
      'without the model, with those that it has',
      200,
      { data: [{ id: 'llama3.2' }, { id: 'qwen3' }] },
      'It serves llama3.2, qwen3 (WORKER_UPSTREAM_MODEL or WORKER_MODELS names them).',
    ],
  ])('is the upstream %s', async (_what, status, body, words) => {
    const upstream = await startUpstream();
    upstreams.push(upstream);
    upstream.answerTrialsWith((reply) => reply.refuse(status, body));
    expect(await describeWith('It fails', upstream.url)).toContain(words);
  });

  it('is the API, which has yet to ask, where a worker is ready', async () => {
    const url = await serve(() => ({ slots: 1 }));
    const from = { workerUrls: [url], upstreamUrl: undefined, upstreamKey: undefined };
    expect(await describeUnready(from)).toBe('The API asks each every 5 s.');
  });
});
