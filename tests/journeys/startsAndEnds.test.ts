import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { createLogger } from '../../common/logger.ts';
import { findFreePort } from '../../stack/port.ts';
import { type StartedProcess, startProcess } from '../../testing/childProcess.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/database/database.ts';
import { type DatabaseGate, startDatabaseGate } from '../../testing/database/databaseGate.ts';
import { startIndexerInProcess } from '../../testing/indexer/inProcessIndexer.ts';
import { REFUNDABLE_SECONDS } from '../../testing/ledger/deadlines.ts';
import { type Interceptor, nodeUnavailable } from '../../testing/ledger/ledgerGate.ts';
import { readBooks, untilEnded, untilLocked } from '../../testing/ledger/walletBooks.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import { FORMS, requestCompletion } from '../../testing/service/requestCompletion.ts';
import { until } from '../../testing/until.ts';
import { answerInTwoParts } from '../../testing/workers/engines.ts';

let service: GatedService;

beforeAll(async () => {
  service = await startGatedService();
});

afterAll(() => service?.close());

describe('an API process that receives SIGTERM', () => {
  const STREAMS = 4;
  const CREDITS = 1_000n;
  /** Run before a process's own code: it gets SIGTERM while it reports that it is ready. */
  const ENDED_WHEN_READY = `
    const write = process.stdout.write;
    process.stdout.write = (...line) => {
      write.apply(process.stdout, line);
      process.kill(process.pid, 'SIGTERM');
      return true;
    };`;
  let wallet: Awaited<ReturnType<GatedService['addWallet']>>;
  /** Lets the answers of a test end. */
  let release: () => void;

  beforeEach(async () => {
    wallet = await service.addWallet(CREDITS);
    release = answerInTwoParts(service.engine);
  });

  afterEach(() => release());

  /** Asks with a connection of its own, and returns when the answer has begun. */
  async function ask(
    { url }: Pick<StartedProcess, 'url'>,
    { stream, content }: { stream: boolean; content: string },
  ): Promise<IncomingMessage> {
    const request = http.request(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${wallet.apiKey}` },
      agent: new http.Agent({ keepAlive: true }),
    });
    const messages = [{ role: 'user', content }];
    request.end(JSON.stringify({ model: service.model.id, messages, stream }));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  }

  /** Waits until the port refuses connections. */
  async function untilDraining({ url }: StartedProcess): Promise<void> {
    const { hostname, port } = new URL(url);
    await until(async () => {
      const socket = connect(Number(port), hostname);
      const failure = await once(socket, 'connect').then(
        () => undefined,
        ({ code }: NodeJS.ErrnoException) => code,
      );
      socket.destroy();
      return failure === 'ECONNREFUSED';
    });
  }

  async function expectAllSettled(count: number): Promise<void> {
    const { jobs, locked } = await untilEnded(service, wallet.address, count);
    expect(jobs).toEqual(Array(count).fill({ status: 'settled', reason: 'none', charged: 8n }));
    expect(locked).toBe(0n);
    await service.expectConserved();
  }

  it('refuses new connections, completes running requests and exits with 0', async () => {
    const api = await service.startApiProcess();
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, (_, index) =>
        ask(api, { stream: true, content: `Stream ${index}.` }),
      ),
    );
    const plain = ask(api, { stream: false, content: 'Plain.' });
    await untilLocked(service, wallet.address, STREAMS + 1);
    api.signal('SIGTERM');
    await untilDraining(api);
    release();

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
    // The least that the setting takes.
    const hasty = await service.startApiProcess({ SVC_SHUTDOWN_TIMEOUT_MS: '1000' });
    const stream = await ask(hasty, { stream: true, content: 'Stream.' });
    hasty.signal('SIGTERM');
    await expect(readText(stream)).rejects.toThrow('aborted');
    expect(await hasty.exited).toBe(1);
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    expect(await untilEnded(service, wallet.address, 1)).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: [{ status: 'refunded', reason: 'none', charged: 0n }],
    });
  });

  it('does not hurry at a second signal', async () => {
    const api = await service.startApiProcess();
    const stream = await ask(api, { stream: true, content: 'Stream.' });
    api.signal('SIGTERM');
    await untilDraining(api);
    api.signal('SIGTERM');
    api.signal('SIGINT');
    release();
    expect(await readText(stream)).toMatch(/data: \[DONE\]\n\n$/);
    expect(await api.exited).toBe(0);
    await expectAllSettled(1);
  });
});

describe('an API that ends', () => {
  it('closes idle kept-alive connections', async () => {
    const { url, shutdown } = await service.startInstance();
    const request = http.get(`${url}/health`, { agent: new http.Agent({ keepAlive: true }) });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const { socket } = response;
    const closed = once(socket, 'close');
    await readText(response);
    expect(socket.destroyed).toBe(false);
    expect(await shutdown.run()).toBe(true);
    await closed;
  });
});

describe('an API of which a part fails to open', () => {
  /** Connections by which instances follow the mirror: one each, from its start to its end. */
  async function countFollowing(): Promise<number> {
    const { rows } = await service.pool.query<{ count: bigint }>(
      `select count(*) from pg_stat_activity
       where application_name = 'svc-api' and query = 'listen mirror_jobs'`,
    );
    return Number(rows[0]?.count);
  }

  it('closes the parts before it, among them its port', async () => {
    const running = await countFollowing();
    const taken = http.createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port: takenPort } = taken.address() as AddressInfo;
    const port = await findFreePort();
    const settings = { PORT: String(port), METRICS_PORT: String(takenPort) };
    await expect(service.startInstance(settings)).rejects.toThrow(
      `METRICS_PORT: port ${takenPort}`,
    );

    const next = http.createServer().listen(port, '127.0.0.1');
    await once(next, 'listening');
    expect(await countFollowing()).toBe(running);
    for (const server of [taken, next]) server.close();
  });
});

describe('an API and an indexer that start before their database', () => {
  const AWAY = 'Waiting for the database at DATABASE_URL';
  let database: TestDatabase;
  let gate: DatabaseGate;
  let closing: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    database = await createTestDatabase({ isEmpty: true });
    gate = await startDatabaseGate(database.databaseUrl);
  });

  afterEach(async () => {
    await Promise.all(closing.map((close) => close()));
    closing = [];
  });

  afterAll(async () => {
    await gate?.close();
    await database?.close();
  });

  /** @returns what resolves when its log says that it waits, and when it is ready */
  function start(part: 'an API' | 'an indexer') {
    const waiting = Promise.withResolvers<'waits'>();
    const write = (line: string) => JSON.parse(line).msg === AWAY && waiting.resolve('waits');
    const logger = createLogger({ name: part, level: 'warn', into: { write } });
    const { indexerEnvironment, time } = service;
    const settings = { DATABASE_URL: gate.databaseUrl };
    async function begin(): Promise<'ready'> {
      if (part === 'an API') {
        const { shutdown } = await service.startInstance(settings, logger);
        closing.push(shutdown.run);
      } else {
        const environment = { ...indexerEnvironment, ...settings };
        const indexer = await startIndexerInProcess(environment, {}, { logger, time });
        closing.push(indexer.terminate);
      }
      return 'ready';
    }
    return { waits: waiting.promise, ready: begin() };
  }

  it('are ready once it is up, whichever started first', async () => {
    await gate.shut();
    const [api, indexer] = [start('an API'), start('an indexer')];
    await Promise.all([api.waits, indexer.waits]);
    await gate.open();
    await service.time.advanceUntil(Promise.all([api.ready, indexer.ready]));
  });

  it.each([
    ['an indexer', 'svc-webhooks'],
    ['an API', 'worker_observations'],
  ] as const)('%s survives when the database goes down during the start', async (part, words) => {
    gate.cutOn(words);
    const one = start(part);
    expect(await Promise.race([one.waits, one.ready])).toBe('waits');
    gate.cutOn(undefined);
    expect(await service.time.advanceUntil(one.ready)).toBe('ready');
  });
});

describe('an API that started while its node was unavailable', () => {
  /** A node that takes everything but has no time. */
  const timeless: Interceptor = (request, forward) =>
    request.params?.[0] === SYSVAR_CLOCK_PUBKEY.toBase58()
      ? nodeUnavailable(request, forward)
      : forward(request);
  let api: Pick<GatedService, 'baseUrl' | 'apiKey' | 'model'>;

  beforeAll(async () => {
    await requestCompletion(service, { form: 'plain' });
    service.ledgerGate.intercept(nodeUnavailable);
    const { url: baseUrl } = await service.time.advanceUntil(service.startInstance());
    api = { ...service, baseUrl };
  });

  async function get(path: string, apiKey = service.apiKey) {
    const response = await fetch(`${api.baseUrl}${path}`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    // biome-ignore lint/suspicious/noExplicitAny: compared as a whole
    return { status: response.status, body: (await response.json()) as any };
  }

  it('serves what the mirror has', async () => {
    expect(await get('/v1/jobs')).toMatchObject({
      status: 200,
      body: { data: [{ status: 'settled' }] },
    });
    expect(await get('/v1/account')).toMatchObject({ status: 200 });
    expect(await get('/v1/models')).toMatchObject({
      status: 200,
      body: { data: [{ id: service.model.id }] },
    });
    expect((await get('/health')).status).toBe(200);
  });

  it('is not ready, because it lacks the ledger', async () => {
    // On a busy machine the database may be late, too, where seconds pass so quickly.
    await service.untilShown(async () => {
      const { status, body } = await get('/ready');
      const { database, ledger, workers } = body.parts;
      return `${status} ${database} ${ledger} ${workers}` === '503 ok away ok';
    });
  });

  it.each(FORMS)(
    "locks nothing for a %s request before it knows the ledger's time",
    async (form) => {
      const before = await readBooks(service, service.wallet.publicKey);
      // A lock would be taken: only its deadlines could not be judged.
      service.ledgerGate.intercept(timeless);
      const { status, headers, error } = await requestCompletion(api, { form });
      expect({ status, code: error?.code }).toEqual({ status: 503, code: 'service_unavailable' });
      expect(headers['retry-after']).toBe('5');
      expect(await readBooks(service, service.wallet.publicKey)).toEqual(before);
    },
  );

  it('refuses an unknown key before it reports the node as unavailable', async () => {
    const { error } = await requestCompletion(api, { form: 'plain', apiKey: 'svc_live_none' });
    expect(error?.code).toBe('invalid_api_key');
  });

  it('serves once the node is back, without a restart', async () => {
    service.ledgerGate.open();
    await service.untilShown(async () => (await get('/ready')).status === 200);
    const { status, headers } = await requestCompletion(api, { form: 'plain' });
    expect(status).toBe(200);
    expect(headers['x-svc-settlement-tx']).toBeTruthy();
    await service.expectConserved();
  });
});
