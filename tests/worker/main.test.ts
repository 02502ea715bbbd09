import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import anchor from '@coral-xyz/anchor';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createAddresses } from '../../programs/client/addresses.ts';
import { startProcess } from '../../testing/childProcess.ts';
import { readClockSeconds, setClockSeconds, startClock } from '../../testing/ledger/ledger.ts';
import { until } from '../../testing/until.ts';
import { loadConfig } from '../../worker/config.ts';
import { startWorker } from '../../worker/start.ts';
import { readAnswer } from './events.ts';
import { codeOf, openScene } from './scene.ts';
import { startUpstream } from './upstreamServer.ts';
import { startWritableLedger } from './writableLedger.ts';

const MAIN = 'worker/main.ts';
/** So that its jobs are all younger than the process. */
const JOB_LIFE_SECONDS = 200n;
const SHUTDOWN_TIMEOUT_MS = 60_000;

afterEach(() => void jest.useRealTimers());

describe('the worker process', () => {
  it('logs its address, answers, and exits cleanly on SIGTERM', async () => {
    const ledger = await startWritableLedger();
    const authority = Keypair.generate().publicKey;
    const proofKey = Keypair.generate();
    const { config, worker } = createAddresses();
    await ledger.write(config, 'Config', {});
    await ledger.write(worker(authority), 'Worker', {
      proof_key: proofKey.publicKey,
      stake_tokens: new anchor.BN(1),
    });
    const process = await startProcess(MAIN, {
      WORKER_PORT: '0',
      WORKER_ENGINE: 'builtin',
      WORKER_GATEWAYS: 'any',
      WORKER_AUTHORITY: authority.toBase58(),
      WORKER_PROOF_KEY: JSON.stringify([...proofKey.secretKey]),
      SOLANA_RPC_URL: ledger.connection.rpcEndpoint,
    });
    expect(await (await fetch(`${process.url}/health`)).json()).toEqual({
      worker_address: worker(authority).toBase58(),
      models: [],
      slots: 128,
      in_flight: 0,
      engine: 'builtin',
      first_token_ms: {},
      gateways: 'any',
    });
    expect(await process.terminate()).toBe(0);
    await ledger.close();
  });

  it('starts while its ledger is unreachable, and logs that', async () => {
    const process = await startProcess(MAIN, {
      WORKER_PORT: '0',
      WORKER_ENGINE: 'builtin',
      WORKER_GATEWAYS: 'any',
      WORKER_AUTHORITY: Keypair.generate().publicKey.toBase58(),
      WORKER_PROOF_KEY: JSON.stringify([...Keypair.generate().secretKey]),
      SOLANA_RPC_URL: 'http://127.0.0.1:9',
    });
    const response = await fetch(`${process.url}/health`);
    expect([response.status, await codeOf(response)]).toEqual([503, 'ledger_unavailable']);
    expect(await process.terminate()).toBe(0);
  });

  it('lets its jobs run for its shutdown time', async () => {
    const { settings, begin, finish, close } = await openHeldJob();
    const process = await startProcess(MAIN, { ...settings, LOG_LEVEL: 'info' });
    const response = await begin(process.url);
    process.signal('SIGTERM');
    await until(async () => process.logged().includes('Received a signal to end'));
    finish();
    expect(await readAnswer(response)).toMatchObject({ error: undefined, finishReason: 'stop' });
    expect(await process.exited).toBe(0);
    await close();
  });

  it.each([
    ['lasts to the end of a job', SHUTDOWN_TIMEOUT_MS - 1, undefined],
    ['ends before a job', SHUTDOWN_TIMEOUT_MS, 'shutting_down'],
  ])('has a shutdown time that %s', async (_case, passedMs, code) => {
    const { settings, begin, finish, close } = await openHeldJob();
    const worker = await startWorker(loadConfig(settings));
    const response = await begin(worker.url);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'Date'] });
    const shutting = worker.shutdown.run();
    await jest.advanceTimersByTimeAsync(passedMs);
    jest.useRealTimers();
    finish();
    const { error } = await readAnswer(response);
    expect(error?.code).toBe(code);
    expect(await shutting).toBe(true);
    await close();
  });

  it('names what is wrong with its environment, without any secret', async () => {
    const message = await refusalOf({
      WORKER_PROOF_KEY: 'a-secret-that-is-no-key',
      WORKER_SLOTS: '0',
      WORKER_SHUTDOWN_TIMEOUT_MS: '8',
      WORKER_UPSTREAM_URL: 'http://somebody:a-secret-password@127.0.0.1:8000/v1',
      WORKER_UPSTREAM_KEY: 'a-secret\nin two lines',
      SOLANA_RPC_URL: 'ftp://a-secret',
    });
    for (const name of [
      ...['WORKER_AUTHORITY', 'WORKER_PROOF_KEY', 'WORKER_SLOTS', 'SOLANA_RPC_URL'],
      'WORKER_SHUTDOWN_TIMEOUT_MS',
      'WORKER_UPSTREAM_URL: must not carry credentials',
      'WORKER_UPSTREAM_KEY: cannot be sent in a header',
    ]) {
      expect(message).toContain(name);
    }
    expect(message).not.toContain('a-secret');
  });

  it.each([
    ['SOLANA_RPC_URL', 'localhost:8899', 'must be a URL that begins with http:// or https://'],
    ['SOLANA_RPC_URL', 'http://user:a-secret@127.0.0.1:9', 'must not carry credentials'],
    ['WORKER_UPSTREAM_URL', 'localhost:8000/v1', 'must be a URL that begins with http://'],
    ['WORKER_MODELS', 'qwen3-8b', 'must be id=name pairs, separated by commas'],
    ['WORKER_METRICS_HOST', '203.0.113.1', 'cannot be listened on (EADDRNOTAVAIL)'],
    ['WORKER_HOST', '203.0.113.1', 'cannot be listened on (EADDRNOTAVAIL)'],
  ])('names %s, without its value, when it is %s', async (name, value, words) => {
    const engine = name === 'WORKER_UPSTREAM_URL' ? {} : { WORKER_ENGINE: 'builtin' };
    const message = await refusalOf({ ...aloneSettings(), ...engine, [name]: value });
    expect(message).toContain(`${name}: ${words}`);
    expect(message).not.toContain(value);
  });

  it.each<[string, Record<string, string>]>([
    ['neither an upstream nor the built-in engine is named', {}],
    ['both are named', { WORKER_UPSTREAM_URL: 'http://127.0.0.1:9', WORKER_ENGINE: 'builtin' }],
  ])('ends with one sentence when %s', async (_case, engine) => {
    const message = await refusalOf({ ...aloneSettings(), ...engine });
    expect(lastLogged(message)).toEqual({
      msg: 'WORKER_UPSTREAM_URL: ' + 'set either this or WORKER_ENGINE=builtin, not both',
    });
  });

  it('refuses a key file that others can read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-worker-'));
    const path = join(folder, 'proof-key.json');
    writeFileSync(path, JSON.stringify([...Keypair.generate().secretKey]), { mode: 0o644 });
    const settings = { ...aloneSettings(), WORKER_ENGINE: 'builtin', WORKER_PROOF_KEY: path };
    expect(lastLogged(await refusalOf(settings)).msg).toContain(
      'WORKER_PROOF_KEY: must be a file that only its owner can read: chmod 600',
    );
    chmodSync(path, 0o600);
    const process = await startProcess(MAIN, settings);
    expect(await process.terminate()).toBe(0);
    rmSync(folder, { recursive: true });
  });

  it('ends with the nearest name when its upstream is misspelt', async () => {
    const message = await refusalOf({
      ...aloneSettings(),
      WORKER_ENGINE: 'builtin',
      WORKER_UPSTREAM_ULR: 'http://127.0.0.1:9',
    });
    expect(lastLogged(message)).toEqual({
      msg: 'WORKER_UPSTREAM_ULR: ' + 'is no setting; the nearest is WORKER_UPSTREAM_URL',
    });
  });
});

/** A worker to be started, and a job of it that has its first text and waits for the rest. */
async function openHeldJob() {
  const [scene, upstream] = [await openScene(), await startUpstream()];
  const finished = Promise.withResolvers<void>();
  upstream.answerWith(async (reply) => {
    reply.text('Hello');
    await finished.promise;
    reply.complete('stop');
  });
  const { connection } = scene.ledger;
  return {
    settings: {
      WORKER_PORT: '0',
      WORKER_GATEWAYS: 'any',
      WORKER_UPSTREAM_URL: upstream.url,
      WORKER_AUTHORITY: scene.keys.authority.publicKey.toBase58(),
      WORKER_PROOF_KEY: JSON.stringify([...scene.keys.proof.secretKey]),
      WORKER_SHUTDOWN_TIMEOUT_MS: `${SHUTDOWN_TIMEOUT_MS}`,
      LOG_LEVEL: 'fatal',
      SOLANA_RPC_URL: connection.rpcEndpoint,
    },
    /** @returns the answer, which has begun */
    async begin(url: string): Promise<Response> {
      await startClock(connection);
      await until(async () => (await fetch(`${url}/health`)).ok);
      await setClockSeconds(connection, (await readClockSeconds(connection)) + JOB_LIFE_SECONDS);
      return scene.ask(await scene.lock(), { url });
    },
    finish: finished.resolve,
    async close(): Promise<void> {
      upstream.close();
      await scene.close();
    },
  };
}

/** The settings of a worker without its engine, and without a ledger. */
function aloneSettings(): Record<string, string> {
  return {
    WORKER_PORT: '0',
    WORKER_GATEWAYS: 'any',
    WORKER_METRICS_PORT: '0',
    SOLANA_RPC_URL: 'http://127.0.0.1:9',
    WORKER_AUTHORITY: Keypair.generate().publicKey.toBase58(),
    WORKER_PROOF_KEY: JSON.stringify([...Keypair.generate().secretKey]),
  };
}

/** What the only line of a log says, besides when and which process. */
function lastLogged(output: string): Record<string, unknown> {
  const [line = ''] = output.split('\n').flatMap((text) => /\{.*\}/.exec(text) ?? []);
  const aside = ['level', 'time', 'pid', 'hostname', 'name'];
  return Object.fromEntries(
    Object.entries(JSON.parse(line)).filter(([key]) => !aside.includes(key)),
  );
}

/** What a worker writes that does not start. */
async function refusalOf(environment: Record<string, string>): Promise<string> {
  const starting = startProcess(MAIN, environment);
  const { message } = await starting.then(
    () => new Error('the process started'),
    (error: Error) => error,
  );
  return message;
}
