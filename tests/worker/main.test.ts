import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startProcess } from '../../testing/childProcess.ts';
import { readClockSeconds, setClockSeconds, startClock } from '../../testing/ledger/ledger.ts';
import { until } from '../../testing/until.ts';
import { loadConfig } from '../../worker/config.ts';
import { startWorker } from '../../worker/start.ts';
import { readAnswer } from './events.ts';
import { MODEL_ID, openScene, outcomeOf, type Scene } from './scene.ts';
import { startUpstream, type UpstreamServer } from './upstreamServer.ts';

/** So that its jobs are all younger than the process. */
const JOB_LIFE_SECONDS = 200n;
const SHUTDOWN_TIMEOUT_MS = 60_000;

let scene: Scene;
let upstream: UpstreamServer;
/** Lets the job of a test end. */
let finish: () => void;
let settings: Record<string, string>;

beforeAll(async () => {
  [scene, upstream] = [await openScene(), await startUpstream()];
  const { connection } = scene.ledger;
  settings = {
    WORKER_PORT: '0',
    WORKER_GATEWAYS: 'any',
    WORKER_UPSTREAM_URL: upstream.url,
    WORKER_AUTHORITY: scene.keys.authority.publicKey.toBase58(),
    WORKER_PROOF_KEY: JSON.stringify([...scene.keys.proof.secretKey]),
    WORKER_SHUTDOWN_TIMEOUT_MS: `${SHUTDOWN_TIMEOUT_MS}`,
    LOG_LEVEL: 'fatal',
    SOLANA_RPC_URL: connection.rpcEndpoint,
  };
  await startClock(connection);
});
afterEach(() => void jest.useRealTimers());
afterAll(async () => {
  upstream.close();
  await scene.close();
});

/** Begins a job of a worker. @returns its answer, which has its first text and waits for the rest */
async function begin(url: string): Promise<Response> {
  const finished = Promise.withResolvers<void>();
  finish = finished.resolve;
  upstream.answerWith(async (reply) => {
    reply.text('Hello');
    await finished.promise;
    reply.complete('stop');
  });
  const { connection } = scene.ledger;
  await until(async () => (await fetch(`${url}/health`)).ok);
  await setClockSeconds(connection, (await readClockSeconds(connection)) + JOB_LIFE_SECONDS);
  return scene.ask(await scene.lock(), { url });
}

describe('the worker process', () => {
  it('logs its address, answers, and lets its job end on SIGTERM', async () => {
    const process = await startProcess('worker/main.ts', { ...settings, LOG_LEVEL: 'info' });
    const response = await begin(process.url);
    expect(await (await fetch(`${process.url}/health`)).json()).toEqual({
      worker_address: scene.worker.toBase58(),
      models: [MODEL_ID],
      slots: 128,
      in_flight: 1,
      engine: 'upstream',
      first_token_ms: { [MODEL_ID]: expect.any(Number) },
      response_format: [],
      tools: [],
      gateways: 'any',
    });
    process.signal('SIGTERM');
    await until(async () => process.logged().includes('Received a signal to end'));
    finish();
    expect(await readAnswer(response)).toMatchObject({ error: undefined, finishReason: 'stop' });
    expect(await process.exited).toBe(0);
  });

  it.each([
    ['lasts to the end of a job', SHUTDOWN_TIMEOUT_MS - 1, undefined],
    ['ends before a job', SHUTDOWN_TIMEOUT_MS, 'shutting_down'],
  ])('has a shutdown time that %s', async (_case, passedMs, code) => {
    const worker = await startWorker(loadConfig(settings));
    const response = await begin(worker.url);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'Date'] });
    const shutting = worker.shutdown.run();
    await jest.advanceTimersByTimeAsync(passedMs);
    jest.useRealTimers();
    finish();
    const { error, proof } = await readAnswer(response);
    expect([error?.code, proof === undefined]).toEqual([code, code !== undefined]);
    expect(await shutting).toBe(true);
  });

  it('starts while its ledger is unreachable', async () => {
    const away = { ...settings, SOLANA_RPC_URL: 'http://127.0.0.1:9' };
    const { url, shutdown } = await startWorker(loadConfig(away));
    expect(await outcomeOf(fetch(`${url}/health`))).toBe('503 ledger_unavailable');
    expect(await shutdown.run()).toBe(true);
  });
});

describe('the settings of a worker', () => {
  const WRONG: [name: string, value: string, words: string][] = [
    ['WORKER_PROOF_KEY', 'a-secret-that-is-no-key', 'must be a secret key'],
    ['WORKER_SLOTS', '0', 'must'],
    ['WORKER_SHUTDOWN_TIMEOUT_MS', '8', 'must'],
    ['WORKER_UPSTREAM_URL', 'http://somebody:a-secret@127.0.0.1/v1', 'must not carry credentials'],
    ['WORKER_UPSTREAM_KEY', 'a-secret\nin two lines', 'cannot be sent in a header'],
    ['WORKER_MODELS', 'a-secret-model', 'must be id=name pairs, separated by commas'],
    ['SOLANA_RPC_URL', 'http://user:a-secret@127.0.0.1:9', 'must not carry credentials'],
  ];
  it('are named where they are wrong, all at once and without any secret', () => {
    const load = () => loadConfig({ ...settings, ...Object.fromEntries(WRONG) });
    for (const [name, , words] of WRONG) expect(load).toThrow(`${name}: ${words}`);
    expect(load).not.toThrow('a-secret');
  });

  it.each<[string, Record<string, string>]>([
    ['neither an upstream nor the built-in engine', { WORKER_UPSTREAM_URL: '' }],
    ['both', { WORKER_ENGINE: 'builtin' }],
  ])('are refused in one sentence where they name %s', (_case, engine) => {
    expect(() => loadConfig({ ...settings, ...engine })).toThrow(
      /^WORKER_UPSTREAM_URL: set either this or WORKER_ENGINE=builtin, not both$/,
    );
  });
});
