import { hash } from 'node:crypto';
import { expect } from '@jest/globals';
import type { UnprovenResult } from '../../api/jobs/attempt.ts';
import { type Dispatchable, type DispatchServices, dispatch } from '../../api/jobs/dispatch.ts';
import type { WorkerTask } from '../../api/workers/client.ts';
import { type WorkerEvent, WorkerFailedError } from '../../api/workers/events.ts';
import { createLogger } from '../../common/logger.ts';
import { IDLE_MS } from '../../common/tokenizers/tokenCounts.ts';

// What a whole service cannot be made to do at will: what each worker of a job says in its turn.

export const STOP_AT = 105n;

type FailureOptions = NonNullable<ConstructorParameters<typeof WorkerFailedError>[1]>;

/** What a worker says in its turn: an answer with a proof, or a thought and texts before it fails. */
export type Turn =
  | 'Hello'
  | (FailureOptions & { thought?: string; texts?: readonly string[]; code?: string });

/** Workers that each take their turn; further ones as the last. */
export function say(...turns: readonly Turn[]): DispatchServices['workers'] {
  const submit: DispatchServices['workers']['submit'] = async function* ({ attempt }) {
    const turn = turns[Math.min(attempt, turns.length) - 1] ?? {};
    if (turn === 'Hello') {
      const outputHash = hash('sha256', turn, 'buffer');
      return yield [
        { type: 'content', text: turn },
        { type: 'finish', reason: 'stop', truncated: null },
        { type: 'proof', proof: { outputHash, promptTokens: 1, completionTokens: 1 } },
      ] as WorkerEvent[];
    }
    const { thought, texts = [], code = 'engine_failed', ...options } = turn;
    if (thought) yield [{ type: 'reasoning', text: thought }];
    for (const text of texts) yield [{ type: 'content', text }];
    throw new WorkerFailedError(code, options);
  };
  return { submit, stop: async () => undefined };
}

/** What else is so while a job is dispatched. */
export interface Circumstances {
  nowSeconds?: bigint;
  workers?: DispatchServices['workers'];
  clientGone?: AbortSignal;
  isStream?: boolean;
  chat?: Record<string, unknown>;
  tokenLimit?: number;
  firstSilenceMs?: number;
  clock?: Pick<DispatchServices['clock'], 'nowSeconds' | 'waitUntil'>;
  /** Resolves once another worker has a place. */
  free?: Promise<void>;
  /** Whose places are given back, in that order, where it is not the one they were taken in. */
  released?: readonly string[];
  /** Workers that have other terms on the ledger by the time they fail. */
  changed?: readonly string[];
  /** Reads the workers again. */
  refresh?: () => Promise<void>;
  /** What the ledger has once so many workers were asked. */
  undelivered?: (asked: number) => { workerAddress: string; attempt: number } | undefined;
}

/** Asks workers, one for each turn, until one answers or none is left. */
export async function answer(turns: readonly Turn[], other: Circumstances = {}) {
  const { nowSeconds = 0n, clientGone = new AbortController().signal, isStream = true } = other;
  const { tokenLimit = 2_000, firstSilenceMs = IDLE_MS, workers = say(...turns) } = other;
  const waitUntil = () => new Promise<void>(() => undefined);
  const asked: WorkerTask[] = [];
  const taken: string[] = [];
  const released: string[] = [];
  /** What was noted of the workers. */
  const noted: string[] = [];
  const delivered: string[] = [];
  const left = turns.map((_turn, index) => `worker ${index}`);

  function takeReservation() {
    const address = left.shift();
    if (address === undefined) return undefined;
    taken.push(address);
    return {
      worker: { address, endpoint: '', cooldown: { failures: 0 }, isSilent: false },
      ...{ observeFirstToken: () => undefined, succeeded: () => undefined },
      failed: () => void noted.push(`${address} failed`),
      foundBusy: () => void noted.push(`${address} busy`),
      refusedConnection: () => void noted.push(`${address} refused`),
      hasChanged: () => other.changed?.includes(address) ?? false,
      release: () => void released.push(address),
    };
  }

  const services = {
    escrow: { undeliveredProof: async () => other.undelivered?.(asked.length) },
    workers: {
      ...workers,
      submit(task: WorkerTask, signal: AbortSignal) {
        asked.push(task);
        return workers.submit(task, signal);
      },
    },
    clock: other.clock ?? { nowSeconds: () => nowSeconds, waitUntil },
    logger: createLogger({ name: 'test', level: 'silent' }),
    directory: {
      async reserve() {
        await other.free;
        return takeReservation();
      },
      active: () => left.map((address) => ({ address })),
      refresh: other.refresh ?? (async () => undefined),
    },
  } as unknown as DispatchServices;
  const dispatchable = {
    job: {
      id: 'a job',
      model: { id: 'm', address: 'm' },
      tokenLimit,
      requestSalt: new Uint8Array(32),
      deadlines: { stopAt: STOP_AT, proofDueAt: STOP_AT + 10n },
    },
    firstSilenceMs,
    reservation: takeReservation(),
    chat: other.chat ?? {},
    clientGone,
    isStream,
  } as unknown as Dispatchable;
  const started: number[] = [];
  /** How many pieces were delivered before each restart. */
  const discarded: number[] = [];
  let end: UnprovenResult | undefined;
  for await (const event of dispatch(services, dispatchable)) {
    if (event.type === 'started') started.push(event.attempt);
    if (event.type === 'text') delivered.push(...event.pieces.map(({ text }) => text));
    if (event.type === 'discarded') discarded.push(delivered.length);
    if (event.type === 'ended' && event.result.kind !== 'whole') end = event.result;
  }
  // However it ends, no place is kept, and each attempt had the one salt.
  expect(released).toEqual(other.released ?? taken);
  expect(asked.map(({ attempt }) => attempt)).toEqual(started);
  expect(new Set(asked.map(({ requestSalt }) => requestSalt)).size).toBe(1);
  return { end, taken, delivered, discarded, started, noted };
}
