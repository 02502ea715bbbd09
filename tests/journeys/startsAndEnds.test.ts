import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { createLogger } from '../../common/logger.ts';
import { type StartedProcess, startProcess } from '../../testing/childProcess.ts';
import { createTestDatabase } from '../../testing/database/database.ts';
import { startDatabaseGate } from '../../testing/database/databaseGate.ts';
import { startIndexerInProcess } from '../../testing/indexer/inProcessIndexer.ts';
import { REFUNDABLE_SECONDS } from '../../testing/ledger/deadlines.ts';
import { nodeUnavailable } from '../../testing/ledger/ledgerGate.ts';
import { readBooks, untilEnded, untilLocked } from '../../testing/ledger/walletBooks.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import {
  expectUnavailable,
  type Form,
  openCompletion,
  ROUTED_FORMS,
  ROUTES,
  type Route,
  type RoutedForm,
  readAnswer,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { until } from '../../testing/until.ts';
import { answerInTwoParts } from '../../testing/workers/engines.ts';

const CREDITS = 1_000n;

let service: GatedService;
/** Of one test. */
let wallet: Awaited<ReturnType<GatedService['addWallet']>>;

beforeAll(async () => {
  service = await startGatedService();
});

beforeEach(async () => {
  wallet = await service.addWallet(CREDITS);
});

afterAll(() => service?.close());

describe('an API process that receives SIGTERM', () => {
  const STREAMS = 4;
  /** Run before a process's own code: it gets SIGTERM while it reports that it is ready. */
  const ENDED_WHEN_READY = `
    const write = process.stdout.write;
    process.stdout.write = (...line) => {
      write.apply(process.stdout, line);
      process.kill(process.pid, 'SIGTERM');
      return true;
    };`;

  const open = ({ url: baseUrl }: StartedProcess, form: Form, seed = 0) => {
    const route = ROUTES[seed % ROUTES.length] as Route;
    const asked = { form, route, apiKey: wallet.apiKey, body: { seed } };
    return openCompletion({ ...service, baseUrl }, asked);
  };

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

  it('refuses new connections, completes running requests and exits with 0', async () => {
    const api = await service.startApiProcess();
    const release = answerInTwoParts(service.engine);
    const asking = Array.from({ length: STREAMS }, (_, seed) => open(api, 'stream', seed));
    const streams = await Promise.all(asking);
    const plain = open(api, 'plain');
    await untilLocked(service, wallet.address, STREAMS + 1);
    api.signal('SIGTERM');
    await untilDraining(api);
    // More signals change nothing.
    api.signal('SIGTERM');
    api.signal('SIGINT');
    release();

    for (const response of [...streams, await plain]) {
      const { status, error, headers, trailers } = await readAnswer(response);
      expect([status, error]).toEqual([200, undefined]);
      expect({ ...headers, ...trailers }).toMatchObject({
        'x-svc-settlement-tx': expect.any(String),
        'x-svc-delivery-receipt': expect.any(String),
      });
    }
    expect(await api.exited).toBe(0);
    const { jobs } = await untilEnded(service, wallet.address, STREAMS + 1);
    expect(jobs.map(({ status }) => status)).toEqual(Array(STREAMS + 1).fill('settled'));
    await service.expectConserved();
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
    const release = answerInTwoParts(service.engine);
    const stream = await open(hasty, 'stream');
    hasty.signal('SIGTERM');
    await expect(readAnswer(stream)).rejects.toThrow('aborted');
    expect(await hasty.exited).toBe(1);
    release();
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    expect(await untilEnded(service, wallet.address, 1)).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: [{ status: 'refunded', reason: 'none', charged: 0n }],
    });
  });
});

describe('an API and an indexer that start before their database', () => {
  const AWAY = 'Waiting for the database at DATABASE_URL';

  it('are ready once it is up, whichever started first', async () => {
    const database = await createTestDatabase({ isEmpty: true });
    const gate = await startDatabaseGate(database.databaseUrl);
    await gate.shut();
    const { indexerEnvironment, time } = service;
    const settings = { DATABASE_URL: gate.databaseUrl };
    /** Resolves when its log says that it waits. */
    const listen = (name: string) => {
      const waiting = Promise.withResolvers<void>();
      const write = (line: string) => JSON.parse(line).msg === AWAY && waiting.resolve();
      return { logger: createLogger({ name, level: 'warn', into: { write } }), waiting };
    };
    const [ofApi, ofIndexer] = [listen('api'), listen('indexer')];
    const parts = Promise.all([
      service.startInstance(settings, ofApi.logger),
      startIndexerInProcess(
        { ...indexerEnvironment, ...settings },
        {},
        { logger: ofIndexer.logger, time },
      ),
    ]);
    await Promise.all([ofApi.waiting.promise, ofIndexer.waiting.promise]);
    await gate.open();
    const [{ shutdown }, indexer] = await time.advanceUntil(parts);
    await shutdown.run();
    await indexer.terminate();
    await gate.close();
    await database.close();
  });
});

describe('an API that started while its node was unavailable', () => {
  it('shows the mirror, locks nothing without a time, and then serves', async () => {
    await requestCompletion(service, { form: 'plain', apiKey: wallet.apiKey });
    await service.untilMirrored();
    service.ledgerGate.intercept(nodeUnavailable);
    const { url: baseUrl } = await service.time.advanceUntil(service.startInstance());
    const ask = ([form, route]: RoutedForm) =>
      requestCompletion({ ...service, baseUrl }, { form, route, apiKey: wallet.apiKey });
    const get = async (path: string) => {
      const headers = { authorization: `Bearer ${wallet.apiKey}` };
      const response = await fetch(`${baseUrl}${path}`, { headers });
      // biome-ignore lint/suspicious/noExplicitAny: compared as a whole
      return { status: response.status, body: (await response.json()) as any };
    };
    expect((await get('/v1/jobs')).body.data).toMatchObject([{ status: 'settled' }]);
    expect((await get('/v1/models')).body.data).toMatchObject([{ id: service.model.id }]);
    // On a busy machine the database may be late, too, where seconds pass so quickly.
    await service.untilShown(async () => {
      const { status, body } = await get('/ready');
      const { database, ledger, workers } = body.parts;
      return `${status} ${database} ${ledger} ${workers}` === '503 ok away ok';
    });

    // A lock would be taken: only its deadlines could not be judged.
    service.ledgerGate.intercept((request, forward) =>
      request.params?.[0] === SYSVAR_CLOCK_PUBKEY.toBase58()
        ? nodeUnavailable(request, forward)
        : forward(request),
    );
    for (const each of ROUTED_FORMS) expectUnavailable(await ask(each));
    expect((await readBooks(service, wallet.address)).jobs).toHaveLength(1);

    service.ledgerGate.open();
    await service.untilShown(async () => (await get('/ready')).status === 200);
    expect(await ask(['stream', 'responses'])).toMatchObject({ status: 200, error: undefined });
    await service.expectConserved();
  });
});
