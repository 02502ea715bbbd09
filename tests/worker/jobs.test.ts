import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createLogger } from '../../common/logger.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import type { KeyHolder } from '../../programs/client/proof.ts';
import { until } from '../../testing/until.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import type { Admitted } from '../../worker/jobs/admission.ts';
import { createAttempts } from '../../worker/jobs/attempts.ts';
import { createJobs, type Jobs } from '../../worker/jobs/jobs.ts';
import { createProofSigner } from '../../worker/jobs/proofSigner.ts';
import { WorkerError } from '../../worker/protocol/errors.ts';
import { readAnswer } from './events.ts';
import { CHAT, COMMITMENT, freshAddress } from './scene.ts';

const TOKEN_LIMIT = 1_000_000;
const PROOF_DUE_MS = 60_000;
const ADMITTED: Admitted = {
  ...{ controller: freshAddress(), proofDueMs: PROOF_DUE_MS },
  ...{ unixSeconds: 0n, deadlineSeconds: 65n },
};
const servers: ReturnType<typeof createServer>[] = [];
/** The responses that its callers wait for, in order. */
let responses: ServerResponse[];
/** Those of the last server. */
let jobs: Jobs;
/** How they ended. */
let ends: string[];
/** The time that silences are measured by. */
let nowMs: number;
beforeEach(() => {
  responses = [];
  ends = [];
  nowMs = 0;
});
afterEach(() => {
  jest.useRealTimers();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/**
 * Jobs behind a plain server, with a ledger check that the test decides.
 *
 * @param admitted for each request the next one, and the last for all others
 */
async function serveJobs(
  engine: Engine,
  admitted: Promise<Admitted> | Promise<Admitted>[],
  proofKey: KeyHolder = Keypair.generate(),
): Promise<string> {
  const worker = freshAddress();
  const checks = [admitted].flat();
  const last = checks.at(-1) as Promise<Admitted>;
  jobs = createJobs({
    admission: { admit: () => checks.shift() ?? last, authorize: async () => undefined },
    attempts: createAttempts(),
    engine,
    signProof: createProofSigner({ programId: PROGRAM_ID, worker, proofKey }),
    capacity: 1,
    logger: createLogger({ name: 'worker', level: 'silent' }),
    onEnd: ({ outcome }) => void ends.push(outcome),
    nowMs: () => nowMs,
  });
  const signer = freshAddress();
  const server = createServer((_request, response) => {
    responses.push(response);
    const request = {
      ...{ job_id: 'job_1', job_address: freshAddress(), worker_address: worker },
      ...{ program_id: PROGRAM_ID, attempt: 1, token_limit: TOKEN_LIMIT },
      ...{ chat: CHAT, requestCommitment: COMMITMENT },
    };
    jobs.run(request, signer, response).catch(() => response.destroy());
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Text without end, and how much of it was asked for. */
function createEndlessEngine(delta: string) {
  const asked = { deltas: 0, started: false };
  const engine: Engine = {
    kind: 'builtin',
    async *generate(_chat, { signal }) {
      asked.started = true;
      while (true) {
        await new Promise(setImmediate);
        signal.throwIfAborted();
        asked.deltas += 1;
        yield { type: 'text', text: delta };
      }
    },
  };
  return { engine, asked };
}

/** Reads an answer whose proof's time is over once its first text has arrived. */
async function readLate(url: string) {
  jest.useFakeTimers({ doNotFake: OTHER_TIMERS });
  return readAnswer(await fetch(url), () => void jest.advanceTimersByTime(PROOF_DUE_MS));
}

/** All but those that the time of a proof is measured with. */
const OTHER_TIMERS = [
  ...(['Date', 'nextTick', 'performance', 'queueMicrotask'] as const),
  ...(['setImmediate', 'setInterval'] as const),
];

describe('a running job', () => {
  it('is aborted when its proof would come too late, with that reason', async () => {
    const engine: Engine = {
      kind: 'upstream',
      async *generate(_chat, { signal }) {
        yield { type: 'text', text: 'word ' };
        await once(signal, 'abort');
        throw new WorkerError('upstream_failed', 'The connection was reset');
      },
    };
    const url = await serveJobs(engine, Promise.resolve(ADMITTED));
    const { text, error, proof } = await readLate(url);
    expect([text, error?.code, proof]).toEqual(['word ', 'deadline_passed', undefined]);
  });

  it.each([
    ['never signs', () => new Promise<never>(() => undefined), 'deadline_passed'],
    ['fails', () => Promise.reject(new Error('CKR_DEVICE_REMOVED')), 'internal_error'],
  ])('ends without a proof when the keeper of its key %s', async (_case, signMessage, code) => {
    const engine: Engine = {
      kind: 'upstream',
      async *generate() {
        yield { type: 'text', text: 'word' };
        yield { type: 'end', finishReason: 'stop' };
      },
    };
    const key = { publicKey: freshAddress(), signMessage };
    const url = await serveJobs(engine, Promise.resolve(ADMITTED), key);
    const { text, error, proof } = await readLate(url);
    expect([text, error?.code, proof]).toEqual(['word', code, undefined]);
  });

  it('pauses its engine while its caller does not read, without blame for it', async () => {
    const { engine, asked } = createEndlessEngine('x'.repeat(100_000));
    const url = await serveJobs(engine, Promise.resolve(ADMITTED));
    const leaving = new AbortController();
    await fetch(url, { signal: leaving.signal });
    let before = -1;
    while (asked.deltas > before) {
      before = asked.deltas;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(asked.deltas * 100_000).toBeLessThan(20_000_000);
    nowMs += 20_000;
    leaving.abort();
    await until(() => ends.length === 1);
    expect(ends).toEqual(['caller_gone']);
  });

  it('does not begin for a caller who disconnected during the ledger check', async () => {
    const { engine, asked } = createEndlessEngine('word ');
    const { promise, resolve } = Promise.withResolvers<Admitted>();
    const url = await serveJobs(engine, promise);
    const leaving = new AbortController();
    const asking = fetch(url, { signal: leaving.signal });
    await until(async () => responses.length === 1);
    const left = once(responses[0] as ServerResponse, 'close');
    leaving.abort();
    await expect(asking).rejects.toThrow('aborted');
    await left;
    resolve(ADMITTED);
    await new Promise(setImmediate);
    expect(asked.started).toBe(false);
  });
});

/** An engine of one word, and what became of each answer that it began. */
function createNotedEngine() {
  const answers: string[] = [];
  const engine: Engine = {
    kind: 'upstream',
    async *generate(_chat, { signal }) {
      const index = answers.push('begun') - 1;
      signal.addEventListener('abort', () => {
        answers[index] = 'aborted';
      });
      yield { type: 'text', text: 'word' };
      yield { type: 'end', finishReason: 'stop' };
    },
  };
  return { engine, answers };
}

describe('the engine of a signer whose last job passed', () => {
  const passed = Promise.resolve(ADMITTED);

  it('begins while the ledger is asked, and nothing is sent before its word', async () => {
    const { engine, answers } = createNotedEngine();
    const check = Promise.withResolvers<Admitted>();
    const url = await serveJobs(engine, [passed, check.promise]);
    await readAnswer(await fetch(url));
    const asking = fetch(url).then((response) => readAnswer(response));
    await until(async () => answers.length === 2);
    await new Promise(setImmediate);
    expect([answers[1], responses[1]?.headersSent]).toEqual(['begun', false]);
    check.resolve(ADMITTED);
    expect((await asking).text).toBe('word');
  });

  it.each([
    ['its job is refused', 'refusal'],
    ['its caller leaves', 'caller'],
  ])('ends when %s, and the next one does not begin early', async (_case, why) => {
    const { engine, answers } = createNotedEngine();
    const [check, later] = [Promise.withResolvers<Admitted>(), Promise.withResolvers<Admitted>()];
    const url = await serveJobs(engine, [passed, check.promise, later.promise]);
    await readAnswer(await fetch(url));
    const leaving = new AbortController();
    const asking = fetch(url, { signal: leaving.signal }).catch(() => undefined);
    await until(async () => answers.length === 2);
    if (why === 'caller') leaving.abort();
    else check.reject(new WorkerError('job_not_found', 'No such job'));
    await asking;
    await until(async () => answers[1] === 'aborted');
    check.reject(new WorkerError('job_not_found', 'No such job'));
    const again = fetch(url).then((response) => readAnswer(response));
    await until(async () => responses.length === 3);
    await new Promise(setImmediate);
    expect(answers.length).toBe(2);
    later.resolve(ADMITTED);
    expect((await again).text).toBe('word');
  });

  it('begins early for no more jobs than the worker takes at once', async () => {
    const { engine, answers } = createNotedEngine();
    const check = Promise.withResolvers<Admitted>();
    const url = await serveJobs(engine, [passed, check.promise]);
    await readAnswer(await fetch(url));
    const asking = [fetch(url), fetch(url)].map((asked) => asked.catch(() => undefined));
    await until(async () => responses.length === 3);
    await new Promise(setImmediate);
    expect(answers.length).toBe(2);
    check.reject(new WorkerError('job_not_found', 'No such job'));
    await Promise.all(asking);
  });
});

describe('closing a server with its jobs', () => {
  it('waits until a proof is sent to a caller who reads late', async () => {
    const engine: Engine = {
      kind: 'builtin',
      async *generate() {
        // Until the system takes no more: what follows waits in this process.
        do {
          yield { type: 'text', text: 'x'.repeat(10_000) };
          await new Promise(setImmediate);
        } while (responses[0]?.writableLength === 0);
        yield { type: 'end', finishReason: 'stop' };
      },
    };
    const { port } = new URL(await serveJobs(engine, Promise.resolve(ADMITTED)));
    const caller = connect(Number(port), '127.0.0.1');
    caller.write('POST / HTTP/1.1\r\nhost: worker\r\ncontent-length: 0\r\n\r\n');
    await until(async () => ends.length > 0);
    expect(ends).toEqual(['proved']);

    const [server] = servers;
    server?.close();
    const closed = jobs.close(60_000).then(() => server?.closeAllConnections());
    expect(await text(caller)).toContain('event: proof');
    await closed;
  });
});
