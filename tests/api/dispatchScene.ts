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

/** What a worker says: pieces of text, then a failure. */
type Script = readonly string[];

/** Asks workers that all fail, each after its own text. */
export async function answer(
  scripts: readonly Script[],
  other: {
    nowSeconds?: bigint;
    workers?: DispatchServices['workers'];
    clientGone?: AbortSignal;
    isStream?: boolean;
    chat?: Record<string, unknown>;
    tokenLimit?: number;
    firstSilenceMs?: number;
    waitUntil?: (at: bigint) => Promise<void>;
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
  } = {},
) {
  const { nowSeconds = 0n, clientGone = new AbortController().signal, isStream = true } = other;
  const { tokenLimit = 2_000, firstSilenceMs = IDLE_MS } = other;
  const { waitUntil = () => new Promise(() => undefined) } = other;
  const asked: WorkerTask[] = [];
  const taken: string[] = [];
  const released: string[] = [];
  /** What was noted of the workers. */
  const noted: string[] = [];
  const delivered: string[] = [];
  const left = scripts.map((_script, index) => `worker ${index}`);

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

  async function* ask(task: WorkerTask): AsyncGenerator<readonly WorkerEvent[]> {
    asked.push(task);
    for (const text of scripts[asked.length - 1] ?? []) yield [{ type: 'content', text }];
    throw new WorkerFailedError('engine_failed');
  }

  const services = {
    escrow: { undeliveredProof: async () => other.undelivered?.(asked.length) },
    workers: other.workers ?? { submit: ask, stop: async () => undefined },
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
  // However it ends, no place is kept.
  expect(released).toEqual(other.released ?? taken);
  return {
    ...{ end, taken, delivered, discarded, started, noted },
    attempts: asked.map(({ attempt }) => attempt),
    salts: asked.map(({ requestSalt }) => requestSalt),
  };
}

/** What each worker says in its turn: a refusal, a failure, a thought before one, or an answer. */
export type Turn = string | { param: string } | { thought: string; code: string } | undefined;

export function say(...turns: Turn[]): DispatchServices['workers'] {
  const submit: DispatchServices['workers']['submit'] = async function* ({ attempt }) {
    const turn = turns[attempt - 1];
    if (typeof turn === 'object' && 'thought' in turn) {
      yield [{ type: 'reasoning', text: turn.thought }];
      throw new WorkerFailedError(turn.code);
    }
    if (typeof turn === 'object') throw new WorkerFailedError('parameter_refused', turn);
    if (turn !== undefined) throw new WorkerFailedError(turn);
    const outputHash = hash('sha256', 'Hello', 'buffer');
    yield [
      { type: 'content', text: 'Hello' },
      { type: 'proof', proof: { outputHash, promptTokens: 1, completionTokens: 1 } },
    ] as WorkerEvent[];
  };
  return { submit, stop: async () => undefined };
}
