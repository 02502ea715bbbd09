import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type StartedProcess, startProcess } from '../../testing/childProcess.ts';
import { type LedgerGate, startLedgerGate } from '../../testing/ledger/ledgerGate.ts';
import { expectUnavailable, requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { consoleAt, signIn } from '../console/server/consoleScene.ts';

const DAY_MS = 86_400_000;
/** Between two reads: a wallet's are limited. */
const PAUSE_MS = 50;
let service: RunningService;
/** Between the indexer and the ledger. */
let gate: LedgerGate;
let successor: StartedProcess | undefined;
/** Reads of one wallet by its key, and by its session. */
let reads: Record<'key' | 'session', (() => Promise<Read>)[]>;
/** What they answer while nothing changes. */
let right: Read[];
let complete: () => ReturnType<typeof requestCompletion>;

interface Read {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
}

beforeAll(async () => {
  service = await startRunningService({
    indexer: 'process',
    async indexerSettings({ SOLANA_RPC_URL }) {
      gate = await startLedgerGate(SOLANA_RPC_URL);
      return { SOLANA_RPC_URL: gate.url };
    },
  });
  const { apiKey } = await service.addWallet(1_000n);
  complete = () => requestCompletion(service, { form: 'plain', apiKey });
  expect((await requestCompletion(service, { form: 'plain' })).status).toBe(200);
  await service.untilMirrored();
  reads = await openReads();
  await until(async () => {
    right = await readAll();
    // How long its stages took is written by and by.
    return !right.some(({ body }) => /"timings":null|"data":\[\]/.test(body));
  });
  expect(right.filter(({ status }) => status !== 200)).toEqual([]);
});

afterAll(async () => {
  await successor?.terminate();
  await service?.close();
  await gate?.close();
});

async function openReads(): Promise<typeof reads> {
  const { baseUrl, apiKey, wallet } = service;
  const call = consoleAt(baseUrl, new URL(baseUrl).origin, { isReal: true });
  const cookie = await signIn(call, wallet);
  const { data } = await service.get('/v1/jobs');
  const [since, before] = [-1, 2].map((days) => new Date(Date.now() + days * DAY_MS).toISOString());
  const period = `since=${since}&until=${before}`;
  const open = (headers: Record<string, string>, paths: string[]) =>
    paths.map((path) => async () => {
      const response = await fetch(`${baseUrl}${path}`, { headers });
      // The time of an answer is no part of what it says.
      const body = (await response.text()).replace(/"as_of":"[^"]*"/, '');
      return { status: response.status, retryAfter: response.headers.get('retry-after'), body };
    });
  const pages = ['account', 'account/history', 'jobs', 'jobs.csv', 'job-counts'];
  const periods = [`usage?by=day&${period}`, `usage/latency?${period}`];
  return {
    key: open({ authorization: `Bearer ${apiKey}` }, [
      ...['/v1/account', '/v1/jobs', `/v1/jobs/${data[0].id}`],
    ]),
    session: open(
      { cookie },
      [...pages, ...periods].map((path) => `/console/api/${path}`),
    ),
  };
}

const readAll = () => Promise.all([...reads.key, ...reads.session].map((read) => read()));
const isUnavailable = ({ status, retryAfter }: Read) => status === 503 && retryAfter === '5';

/** Reads by key, and completes. @returns what ends it, with the answers that were wrong */
function beginLoad(): () => Promise<unknown[]> {
  const stopping = new AbortController();
  const wrong: unknown[] = [];
  const repeat = async (once: () => Promise<void>) => {
    for (; !stopping.signal.aborted; await delay(PAUSE_MS)) await once();
  };
  const load = reads.key.map((read, place) =>
    repeat(async () => {
      const found = await read();
      if (!isUnavailable(found) && !isDeepStrictEqual(found, right[place])) wrong.push(found);
    }),
  );
  const completing = repeat(async () => {
    const { status, error } = await complete();
    if (status !== 200 && status !== 503) wrong.push({ status, error });
  });
  return async () => {
    stopping.abort();
    await Promise.all([...load, completing]);
    return wrong;
  };
}

/** Drops the mirror. The next indexer has made its tables by then, and has read nothing yet. */
async function loseMirror(): Promise<{ fill(): void }> {
  const held = Promise.withResolvers<void>();
  await service.pool.query('drop schema mirror cascade');
  expect(await (service.indexer as StartedProcess).exited).toBe(1);
  gate.intercept(async (request, forward) => {
    if (request.method === 'getSignaturesForAddress') await held.promise;
    return forward(request);
  });
  successor = await startProcess('indexer/main.ts', service.indexerEnvironment);
  return { fill: held.resolve };
}

describe('a mirror that was lost', () => {
  it('is a 503 to its readers, and away in /ready, until it is whole', async () => {
    const endLoad = beginLoad();
    try {
      const { fill } = await loseMirror();
      expect((await readAll()).filter((read) => !isUnavailable(read))).toEqual([]);
      expectUnavailable(await complete());
      const { url } = await service.startInstance();
      const shows = (status: number, mirror: string) => async () => {
        const answers = await Promise.all(
          [url, service.baseUrl].map((base) => fetch(`${base}/ready`)),
        );
        const bodies = await Promise.all(answers.map((answer) => answer.json()));
        const parts = (bodies as { parts: Record<string, string> }[]).map((body) => body.parts);
        return (
          answers.every((answer) => answer.status === status) &&
          parts.every((part) => part.mirror === mirror && part.database === 'ok')
        );
      };
      await service.untilShown(shows(503, 'away'));
      const status = await fetch(`${service.baseUrl}/console/api/status`);
      expect(await status.json()).toMatchObject({ parts: { mirror: 'away' }, queues: null });
      fill();
      await until(async () => (await reads.key[0]?.())?.status === 200);
      expect(await readAll()).toEqual(right);
      await service.untilShown(shows(200, 'ok'));
      expect((await complete()).status).toBe(200);
    } finally {
      expect(await endLoad()).toEqual([]);
    }
  });
});
