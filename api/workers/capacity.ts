import { systemTime, type Time } from '../../common/wait.ts';
import {
  chooseWorker,
  type KnownWorker,
  recordBusy,
  recordFailure,
  recordSuccess,
  recordUnreachable,
  smoothed,
} from './choice.ts';

/** Reserved capacity at a worker. Released once, when the attempt is over. */
export interface Reservation {
  worker: KnownWorker;
  /** Records how long the first token took, for the pool's next choices. */
  observeFirstToken(ms: number): void;
  succeeded(): void;
  failed(): void;
  /** Nothing listens at the worker's endpoint: it is offered no work before it answers a probe. */
  refusedConnection(): void;
  /** @param retryAfterMs when the worker expects to have capacity again, if it said so */
  foundBusy(retryAfterMs: number | undefined): void;
  /**
   * Whether the worker's terms on the ledger have changed since the reservation: it left, stopped
   * hosting the model, or has another endpoint or proof key.
   */
  hasChanged(): boolean;
  release(): void;
}

/** For which model, and which workers were asked for the job before. */
interface ReservationRequest {
  modelAddress: string;
  except: ReadonlySet<string>;
}

export interface Capacity {
  /**
   * Reserves capacity at a worker of the model, waiting up to `waitMs` for it.
   *
   * @returns undefined when none came free, or when `signal` aborted
   */
  reserve(
    wish: ReservationRequest & { waitMs: number; signal?: AbortSignal },
  ): Promise<Reservation | undefined>;
  /** How many wait for capacity at the model's workers. */
  waiting(modelAddress: string): number;
  /** Lets all waiting requests try again, in the order they came. */
  offer(): void;
}

/** Reserves capacity, first come, first served among waiting requests. */
export function createCapacity(options: {
  candidates: (modelAddress: string) => KnownWorker[];
  time?: Time;
  random: () => number;
  /** Called for each attempt that fails by the worker's own fault. */
  onFailure?: (worker: string, modelAddress: string) => void;
}): Capacity {
  const { candidates, time = systemTime, random, onFailure } = options;
  const { nowMs } = time;
  const waiting = new Set<{ modelAddress: string; lookAgain: () => void }>();

  function offer(): void {
    for (const { lookAgain } of [...waiting]) lookAgain();
  }

  function take({ modelAddress, except }: ReservationRequest): Reservation | undefined {
    const others = candidates(modelAddress).filter(({ address }) => !except.has(address));
    const worker = chooseWorker(others, { modelAddress, nowMs: nowMs(), random });
    if (!worker) return undefined;
    const onFailed = () => onFailure?.(worker.address, modelAddress);
    return reserveAt(worker, { modelAddress, nowMs, onFailed, onReleased: offer });
  }

  return {
    offer,
    waiting: (modelAddress) =>
      [...waiting].filter((waiter) => waiter.modelAddress === modelAddress).length,
    reserve({ waitMs, signal, ...wish }) {
      if (signal?.aborted) return Promise.resolve(undefined);
      const reservation = take(wish);
      if (reservation || waitMs === 0) return Promise.resolve(reservation);
      return new Promise((resolve) => {
        const finish = (result: Reservation | undefined) => {
          waiting.delete(waiter);
          cancel();
          signal?.removeEventListener('abort', giveUp);
          resolve(result);
        };
        const waiter = {
          modelAddress: wish.modelAddress,
          lookAgain() {
            const found = take(wish);
            if (found) finish(found);
          },
        };
        const giveUp = () => finish(undefined);
        const cancel = time.after(waitMs, giveUp);
        signal?.addEventListener('abort', giveUp, { once: true });
        waiting.add(waiter);
      });
    },
  };
}

/** Holds one place of the worker's capacity until it is released. */
function reserveAt(
  worker: KnownWorker,
  options: {
    modelAddress: string;
    nowMs: () => number;
    onFailed: () => void;
    onReleased: () => void;
  },
): Reservation {
  const { modelAddress, nowMs, onFailed, onReleased } = options;
  const { endpoint, proof_key } = worker;
  const takenAtMs = nowMs();
  let isHeld = true;
  worker.inFlight += 1;
  const failed = (): void => {
    recordFailure(worker.cooldown, takenAtMs, nowMs());
    onFailed();
  };
  return {
    worker,
    observeFirstToken(observedMs) {
      const ms = smoothed(worker.firstTokens.get(modelAddress)?.ms, observedMs);
      worker.firstTokens.set(modelAddress, { ms, observedAtMs: nowMs() });
    },
    succeeded() {
      worker.jobMs = smoothed(worker.jobMs, nowMs() - takenAtMs);
      recordSuccess(worker.cooldown);
    },
    failed,
    refusedConnection() {
      failed();
      recordUnreachable(worker);
    },
    foundBusy: (retryAfterMs) => recordBusy(worker.cooldown, retryAfterMs, nowMs()),
    hasChanged: () =>
      !worker.isEligible ||
      !worker.models.includes(modelAddress) ||
      worker.endpoint !== endpoint ||
      worker.proof_key !== proof_key,
    release() {
      if (!isHeld) return;
      isHeld = false;
      worker.inFlight -= 1;
      onReleased();
    },
  };
}
