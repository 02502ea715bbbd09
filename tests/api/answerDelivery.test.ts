import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { CompletionServices, Completions } from '../../api/jobs/completion.ts';
import type { Escrow } from '../../api/ledger/escrow.ts';
import type { JobResult } from '../../api/ledger/job.ts';
import { createChatFormat } from '../../api/response/chatFormat.ts';
import type { WorkerTask } from '../../api/workers/client.ts';
import { WorkerFailedError } from '../../api/workers/events.ts';
import { delay } from '../../common/wait.ts';
import { proofMessage, requestCommitment, signHashed } from '../../programs/client/proof.ts';
import { answerDetails, statementOf } from '../../programs/client/statement.ts';
import { TEXT_ALONE } from '../../testing/textAlone.ts';
import {
  createStubbedCompletions,
  job,
  messages,
  model,
  never,
  payer,
  programId,
} from './completionScene.ts';

const SETTLED: JobResult = { status: 'settled', signature: 'a settlement' };
const worker = Keypair.generate().publicKey;
const proofKey = Keypair.generate();
const asked = { model: model.id, messages, token_limit: job.tokenLimit };
const proven = {
  outputHash: createHash('sha256').update('a text').digest(),
  ...{ promptTokens: 1, completionTokens: 2 },
  statement: statementOf({
    requestCommitment: requestCommitment(job.requestSalt, asked),
    answerDetails: answerDetails(TEXT_ALONE),
  }),
};
const proofOf = (attempt: number) => ({
  ...proven,
  signature: signHashed(
    proofMessage({ programId, job: job.address, worker, attempt, ...proven }),
    proofKey,
  ),
});

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

/** What the client learns of the settlement, and after how long. */
async function deliver(options: {
  isStream: boolean;
  settle?: Escrow['settle'];
  outputTokens?: number;
  mirrored?: () => Promise<unknown>;
  store?: () => Promise<void>;
  refund?: () => Promise<JobResult>;
  /** Called at each step. */
  onStep?: (step: string) => void;
  /** How long the worker takes before its text, and from there to its proof. */
  takes?: { readMs: number; writeMs: number };
  /** Another worker that breaks off after its first word. */
  firstWorker?: string;
  readSettlement?: Escrow['readSettlement'];
  readPriced?: Escrow['readPriced'];
  /** The key that the pool has of its worker before it is read again. */
  formerKey?: Keypair;
  observeStage?: CompletionServices['observeStage'];
  observeFirstToken?: CompletionServices['observeFirstToken'];
}) {
  const { isStream, settle = async () => SETTLED, mirrored = never } = options;
  const { onStep = () => undefined, store = async () => undefined } = options;
  const addresses = [options.firstWorker ?? [], worker.toBase58()].flat();
  const pooled = { proof_key: (options.formerKey ?? proofKey).publicKey };
  async function* ask({ attempt, workerAddress }: WorkerTask): AsyncGenerator<object[]> {
    if (workerAddress === options.firstWorker) {
      yield [{ type: 'content', text: 'another' }];
      throw new WorkerFailedError('engine_failed');
    }
    const text = { type: 'content', text: 'a text' };
    const end = [
      { type: 'finish', reason: 'stop', truncated: null },
      { type: 'proof', proof: proofOf(attempt) },
    ];
    if (!options.takes) return yield [text, ...end];
    await delay(options.takes.readMs);
    yield [text];
    await delay(options.takes.writeMs);
    yield end;
  }
  const completions = createStubbedCompletions({
    directory: {
      active: () => addresses.map((address) => ({ address })),
      refresh: async () => void Object.assign(pooled, { proof_key: proofKey.publicKey }),
      reserve: async () => ({
        worker: Object.assign(pooled, { address: addresses.shift(), endpoint: '' }),
        ...{ observeFirstToken: () => undefined, succeeded: () => undefined },
        ...{ failed: () => undefined, release: () => undefined, hasChanged: () => false },
      }),
    },
    escrow: {
      ...{ draft: () => ({ id: job.id }), lock: async () => job, acknowledge: () => undefined },
      ...{ settle, refund: options.refund, undeliveredProof: async () => undefined },
      readPriced: options.readPriced ?? (async () => undefined),
      readSettlement: options.readSettlement ?? (async () => undefined),
    },
    tokens: { output: async () => options.outputTokens ?? 2 },
    watch: { waitFor: mirrored, hint: () => undefined },
    idempotency: {
      claim: async () => ({
        status: 'new',
        store() {
          onStep('copy');
          return store();
        },
      }),
    },
    workers: { submit: ask },
    signReceipt: async () => {
      onStep('receipt');
      return 'a receipt';
    },
    ...(options.observeStage && { observeStage: options.observeStage }),
    ...(options.observeFirstToken && { observeFirstToken: options.observeFirstToken }),
  });
  const { response, received } = createResponse(onStep);
  const request = { model: model.id, messages, stream: isStream };
  void completions.complete({
    payer,
    identity: {},
    request,
    format: createChatFormat({ includeUsage: false }),
    response,
  } as unknown as Parameters<Completions['complete']>[0]);
  for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
  await jest.advanceTimersByTimeAsync(60_000);
  return received();
}

/** A response, and what its client got by its end. */
function createResponse(onStep: (step: string) => void) {
  const startedMs = performance.now();
  const headers: Record<string, unknown> = {};
  let received: unknown;
  const end = (body?: string): void => {
    received ??= {
      text: body && JSON.parse(body).choices[0].message.content,
      settlementTx: headers['x-svc-settlement-tx'] ?? null,
      creditsRemaining: headers['x-svc-credits-remaining'] ?? null,
      worker: headers['x-svc-worker'],
      afterMs: Math.round(performance.now() - startedMs),
    };
  };
  const response = {
    req: { httpVersion: '1.1' },
    locals: { trace: { stage: () => undefined } },
    ...{ once: () => undefined, prependOnceListener: () => undefined },
    ...{ addTrailers: (more: object) => void Object.assign(headers, more) },
    set(...more: [object] | [string, string]) {
      Object.assign(headers, more.length === 2 ? { [more[0]]: more[1] } : more[0]);
      return response;
    },
    removeHeader: (name: string) => void delete headers[name],
    ...{ type: () => response, status: () => response },
    write(text: string) {
      if (text.includes('"a text"')) onStep('text');
      if (text.includes('[DONE]')) onStep('finish');
    },
    json({ error }: { error: { code: string; details: object } }) {
      received = { code: error.code, ...error.details };
    },
    end,
  };
  return { response, received: () => received };
}

describe('an answer of a second worker, after the first broke off', () => {
  it('has the second one’s text and name, and the first token of each', async () => {
    const observeFirstToken = jest.fn<CompletionServices['observeFirstToken']>();
    const given = { isStream: false, firstWorker: 'the first', observeFirstToken };
    expect(await deliver(given)).toMatchObject({ worker: worker.toBase58(), text: 'a text' });
    const measured = observeFirstToken.mock.calls.map(([token]) => token.worker);
    expect(measured).toEqual(['the first', worker.toBase58()]);
  });
});

const after = (ms: number) => (ms > 0 ? delay(ms) : Promise.resolve());
const mirrored = async () => ({ available_credits: 7n });
const inFull = { settlementTx: 'a settlement', creditsRemaining: '7' };

describe('a proof that is signed with a new key of its worker', () => {
  it('is checked again once the pool has that key', async () => {
    const given = { isStream: false, formerKey: Keypair.generate(), mirrored };
    expect(await deliver(given)).toMatchObject(inFull);
  });
});

describe('the stages of a request', () => {
  it('are measured in milliseconds', async () => {
    const observeStage = jest.fn<CompletionServices['observeStage']>();
    await deliver({
      ...{ isStream: false, observeStage },
      settle: () => delay(1_500).then(() => SETTLED),
      mirrored: () => delay(250).then(mirrored),
    });
    expect(Object.fromEntries(observeStage.mock.calls)).toEqual({
      ...{ lock: 0, worker: 0, settle: 1_500, mirror: 250 },
    });
  });
});

describe('a streamed answer', () => {
  it('sends its last events, with the receipt, before copy and settlement', async () => {
    const steps: string[] = [];
    const settle = async () => {
      steps.push('settlement');
      return SETTLED;
    };
    await deliver({ isStream: true, settle, onStep: (step) => void steps.push(step) });
    expect(steps).toEqual(['receipt', 'text', 'finish', 'copy', 'settlement']);
  });

  it.each([
    ['behind the first text of a worker that begins at once', 0, ['text', 'price']],
    ['before the first text of any other', 20, ['price', 'text']],
  ])('has its price read %s', async (_when, readMs, order) => {
    const steps: string[] = [];
    const onStep = (step: string) => void steps.push(step);
    // As text is sent, nodes are asked behind the work of the moment.
    const readPriced = () => new Promise(process.nextTick).then(() => void onStep('price'));
    await deliver({ isStream: true, takes: { readMs, writeMs: 5 }, onStep, readPriced });
    expect(steps.filter((step) => order.includes(step))).toEqual(order);
  });
});

describe.each([
  ['a plain answer', false, 10_000],
  ['a stream', true, 3_000],
] as const)('%s', (_form, isStream, waitMs) => {
  const late = { creditsRemaining: null, afterMs: waitMs };
  it.each<[string, number, number, object]>([
    ['at once', 0, 0, { ...inFull, afterMs: 0 }],
    ['later', 0.1, 0.3, { ...inFull, afterMs: 0.4 * waitMs }],
    ['just in time', 0.9, 0.09, { ...inFull, afterMs: 0.99 * waitMs }],
    ['too late in the mirror', 0.9, 0.2, { ...inFull, ...late }],
    ['too late on the ledger', 1.1, 0, { ...late, settlementTx: null }],
  ])('whose settlement shows %s names what is known by then', async (...given) => {
    const [, ledger, mirror, expected] = given;
    const received = await deliver({
      isStream,
      settle: () => after(ledger * waitMs).then(() => SETTLED),
      mirrored: () => after(mirror * waitMs).then(mirrored),
    });
    expect(received).toMatchObject(expected);
  });

  it('has the balance of the ledger where the mirror does not show it', async () => {
    const readSettlement = jest.fn<Escrow['readSettlement']>(async () => ({
      ...{ settlement_tx: 'a settlement', available_credits: 9_999_999_999_999n },
    }));
    expect(await deliver({ isStream, mirrored: async () => undefined, readSettlement })).toEqual(
      expect.objectContaining({
        ...{ settlementTx: 'a settlement', creditsRemaining: '9999999999999', afterMs: 0 },
      }),
    );
    expect(readSettlement.mock.lastCall?.[1]).toBe('a settlement');
  });

  it('has the balance of the mirror where that is back before its event', async () => {
    const answers = [undefined, after(500).then(mirrored)];
    const received = await deliver({
      isStream,
      mirrored: async () => answers.shift(),
      readSettlement: never,
    });
    expect(received).toMatchObject({ ...inFull, afterMs: 500 });
  });

  it.each([
    ['once it is kept for repeats', 1_500, 1_500],
    ['after 2 s where it cannot be kept in time', 60_000, 2_000],
  ])('is settled at our own count %s', async (_when, keptAfterMs, settledAfterMs) => {
    const startedMs = performance.now();
    const settle = jest.fn<Escrow['settle']>(async (_job, _answer, countedTokens, kept) => {
      await kept;
      const settledMs = Math.round(performance.now() - startedMs);
      expect([countedTokens, settledMs]).toEqual([7, settledAfterMs]);
      return SETTLED;
    });
    await deliver({ isStream, outputTokens: 7, store: () => delay(keptAfterMs), settle });
    expect(await settle.mock.results[0]?.value).toBe(SETTLED);
  });

  it('is refunded when its settlement came too late, with no charge shown', async () => {
    const received = await deliver({
      ...{ isStream, mirrored },
      settle: async () => ({ status: 'overdue' }),
      refund: async () => ({ status: 'refunded', signature: 'a refund' }),
    });
    expect(received).toMatchObject(
      isStream
        ? { settlementTx: null, creditsRemaining: null }
        : { code: 'job_timeout', credits_refunded: 8, refund_tx: 'a refund' },
    );
  });

  it('waits 1 s for the price of a ledger that is away', async () => {
    const received = await deliver({ isStream, readPriced: never, mirrored });
    expect(received).toMatchObject({ settlementTx: 'a settlement', afterMs: 1_000 });
  });
});
