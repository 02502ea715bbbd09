import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { type Dispatcher, MockAgent } from 'undici';
import { createWorkerClient, type WorkerTask } from '../../api/workers/client.ts';
import { createHealthProbe } from '../../api/workers/health.ts';
import {
  AddressRefusedError,
  createGuardedDispatcher,
  type ResolveName,
} from '../../common/net/addressGuard.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';

const worker = Keypair.generate().publicKey.toBase58();
const gateway = Keypair.generate().publicKey.toBase58();
const health = {
  ...{ worker_address: worker, slots: 4, in_flight: 1, engine: 'upstream' },
  first_token_ms: { 'a-model': 5 },
};
const rebound = 'https://worker.example.com';

/** A service of ours that no stranger's worker entry may lead to. */
let inside: Server;
let port: number;
let connections: number;
let dispatchers: Dispatcher[];

beforeEach(async () => {
  connections = 0;
  dispatchers = [];
  inside = createServer((_request, response) => void response.end());
  inside.on('connection', () => {
    connections += 1;
  });
  inside.listen(0, '127.0.0.1');
  await once(inside, 'listening');
  port = (inside.address() as AddressInfo).port;
});

afterEach(async () => {
  for (const dispatcher of dispatchers) await dispatcher.destroy();
  inside.close();
  await once(inside, 'close');
});

function serve(listener: RequestListener): void {
  inside.removeAllListeners('request').on('request', listener);
}

/** Everything that the API ever asks of an endpoint, as it asks it. */
function asking(
  endpoint: string,
  { allowLoopback = false, allowBuiltin = false, resolve }: AskOptions = {},
) {
  const dispatcher = createGuardedDispatcher({
    allowLoopback,
    connectTimeoutMs: 60_000,
    ...(resolve && { resolve }),
  });
  dispatchers.push(dispatcher);
  const probe = createHealthProbe({ dispatcher, gateway, allowLoopback, allowBuiltin });
  const client = createWorkerClient({
    ...{
      dispatcher,
      allowLoopback,
      allowBuiltin,
      signer: Keypair.generate(),
      programId: PROGRAM_ID,
    },
    nowMs: Date.now,
  });
  const task: WorkerTask = {
    ...{ endpoint, workerAddress: worker, jobId: 'job_1', attempt: 1, tokenLimit: 10, chat: {} },
    ...{ jobAddress: Keypair.generate().publicKey, requestSalt: new Uint8Array(32) },
  };
  return {
    health: () => probe({ address: worker, endpoint, proof_key: '', payout: '', ...NOTHING }),
    job: () => client.submit(task, AbortSignal.timeout(60_000)).next(),
    stop: () => client.stop(task, 'deadline'),
  };
}

interface AskOptions {
  allowLoopback?: boolean;
  allowBuiltin?: boolean;
  resolve?: ResolveName;
}

/** Where loopback is allowed, as in development. */
const askHere = (allowBuiltin = false) =>
  asking(`http://127.0.0.1:${port}`, { allowLoopback: true, allowBuiltin });

async function expectFailed(
  ask: ReturnType<typeof asking>,
  codes = { job: 'connection_failed', stop: 'stop_failed' },
): Promise<void> {
  expect(await ask.health()).toBeUndefined();
  await expect(ask.job()).rejects.toMatchObject({ code: codes.job });
  await expect(ask.stop()).rejects.toMatchObject({ code: codes.stop });
}

const NOTHING = { models: [], failed_canaries: [], formless: [], toolless: [] };

describe('a worker’s endpoint', () => {
  it.each([
    ['on loopback', () => `http://127.0.0.1:${port}`],
    ['on loopback as mapped IPv6', () => `https://[::ffff:127.0.0.1]:${port}`],
    ['on a private address', () => 'https://10.0.0.1'],
    ['with plain HTTP', () => 'http://worker.example.com'],
    ['that is no URL', () => 'worker'],
  ])('%s is never contacted', async (_where, endpoint) => {
    await expectFailed(asking(endpoint()));
    expect(connections).toBe(0);
  });

  it('is contacted no more after its name moved to a private address', async () => {
    // given a name that leads to where it may, here loopback, when the worker is probed
    let lookups = 0;
    const resolve: ResolveName = async () => {
      lookups += 1;
      return lookups === 1 ? ['127.0.0.1'] : ['10.0.0.1'];
    };
    const ask = asking(`${rebound}:${port}`, { allowLoopback: true, resolve });
    await ask.health();
    expect([lookups, connections]).toEqual([1, 1]);
    // when it is given a job
    const refused = { cause: expect.any(AddressRefusedError) };
    await expect(ask.job()).rejects.toMatchObject(refused);
    await expect(ask.stop()).rejects.toMatchObject(refused);
    // then the name was looked at again
    expect([lookups, connections]).toEqual([3, 1]);
  });

  it('is not followed when it redirects, even to a permitted address', async () => {
    const paths: (string | undefined)[] = [];
    serve((request, response) => {
      paths.push(request.url);
      if (request.url === '/elsewhere') return void response.end(JSON.stringify(health));
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    await expectFailed(askHere(), { job: 'status_307', stop: 'stop_307' });
    expect(paths).toEqual(['/health', '/jobs', expect.stringMatching(/\/stop$/)]);
  });
});

describe('an answer of a worker', () => {
  const answer = (status: number, body: object, bytes: number) =>
    serve((_request, response) => {
      response.writeHead(status).end(JSON.stringify(body).padEnd(bytes));
    });

  it('about its health is read up to 64 KiB and ignored beyond', async () => {
    answer(200, health, 65_536);
    expect(await askHere().health()).toEqual(health);
    answer(200, health, 65_537);
    expect(await askHere().health()).toBeUndefined();
  });

  it.each([[{ 'a-model': -1 }], [{ 'a-model': 3_600_001 }], [{ 'a-model': '5' }], [null]])(
    'says nothing of its first tokens that is no time: %j',
    async (first_token_ms) => {
      answer(200, { ...health, first_token_ms }, 0);
      expect(await askHere().health()).toEqual({ ...health, first_token_ms: {} });
    },
  );

  it('is read up to the same limit when it refuses a job', async () => {
    const refusal = { error: { code: 'no_free_slot', message: '' } };
    answer(503, refusal, 65_536);
    await expect(askHere().job()).rejects.toMatchObject({ code: 'no_free_slot' });
    answer(503, refusal, 65_537);
    await expect(askHere().job()).rejects.toMatchObject({ code: 'status_503', busy: undefined });
  });

  it('is not repeated to the client when it refuses with an unknown code', async () => {
    answer(502, { error: { code: 'You asked: how do I reach her', message: '' } }, 0);
    await expect(askHere().job()).rejects.toMatchObject({
      code: 'unknown_code',
      message: expect.not.stringContaining('reach her'),
    });
  });

  it('counts on this machine alone when it refuses all jobs', async () => {
    answer(503, { error: { code: 'upstream_not_ready', message: 'It loads.' } }, 0);
    expect(await askHere().health()).toEqual({ reason: 'It loads.' });
    const dispatcher = new MockAgent();
    const error = { code: 'upstream_not_ready', message: 'It loads.' };
    dispatcher.get(rebound).intercept({ path: '/health' }).reply(503, { error });
    const probe = createHealthProbe({
      ...{ dispatcher, gateway, allowLoopback: true, allowBuiltin: false },
    });
    const row = { address: worker, endpoint: rebound, proof_key: '', payout: '', ...NOTHING };
    expect(await probe(row)).toBeUndefined();
    dispatcher.assertNoPendingInterceptors();
    await dispatcher.close();
  });

  it('is ignored in the name of another worker', async () => {
    answer(200, { ...health, worker_address: Keypair.generate().publicKey.toBase58() }, 0);
    expect(await askHere().health()).toBeUndefined();
  });
});

describe('a worker that names the gateways it serves', () => {
  const other = Keypair.generate().publicKey.toBase58();

  it.each<[string, unknown, boolean]>([
    ['any', 'any', true],
    ['ours', [other, gateway], true],
    ['none', [], false],
    ['others', [other], false],
    ['some word', 'all', false],
  ])('is offered jobs only if ours is among them: %s', async (_which, gateways, isOffered) => {
    const body = { ...health, gateways };
    serve((_request, response) => void response.end(JSON.stringify(body)));
    expect(await askHere().health()).toEqual(isOffered ? body : undefined);
  });
});

describe('a worker with the built-in engine', () => {
  const report = (body: object) =>
    serve((_request, response) => void response.end(JSON.stringify(body)));

  it('is offered jobs only where a setting allows it', async () => {
    report({ ...health, engine: 'builtin' });
    expect(await askHere().health()).toBeUndefined();
    expect(await askHere(true).health()).toEqual({ ...health, engine: 'builtin' });
  });

  it('is another than one that does not name its engine', async () => {
    const { engine: _engine, ...silent } = health;
    report(silent);
    expect(await askHere().health()).toEqual({ ...health, engine: 'upstream' });
  });

  it('is found by its answer, if it reported another engine', async () => {
    serve((_request, response) => {
      response.writeHead(200, { 'x-svc-engine': 'builtin' }).end();
    });
    await expect(askHere().job()).rejects.toMatchObject({ code: 'builtin_engine' });
    expect(await askHere(true).job()).toMatchObject({
      value: [{ type: 'started', engine: 'builtin' }],
    });
  });
});
