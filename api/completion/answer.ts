import { isSound } from '../routing/choice.ts';
import type { Slot } from '../routing/slots.ts';
import type { WorkerDirectory } from '../routing/workerDirectory.ts';
import { type AskedJob, type AskServices, ask } from './ask.ts';
import type { AttemptEnd } from './attempt.ts';
import { ATTEMPTS_MAX } from './deadlines.ts';
import { askOneOrTwo, type Lane } from './hedge.ts';

export interface AnswerServices extends AskServices {
  directory: WorkerDirectory;
  /** A worker without text after this time gets a rival; undefined: never. */
  hedgeAfterMs: number | undefined;
}

/** How long a job whose worker failed waits for a slot at another: as long as a new request does. */
const FAILOVER_WAIT_MS = 2_000;
/** How long another may be waited for while a worker is silent: no job lives longer. */
const SUCCESSOR_WAIT_MS = 120_000;

/**
 * Gets the locked job answered: asks the worker whose slot is reserved, then others while no
 * content was passed on. Releases every slot it holds.
 *
 * @param options.slot at the worker to ask first
 */
export async function answerJob(
  services: AnswerServices,
  options: AskedJob & { slot: Slot },
): Promise<AttemptEnd> {
  const { directory, clock, hedgeAfterMs } = services;
  const { model, deadlines } = options.job;
  // Each worker is asked once, so that their number is the number of the attempt.
  const asked = new Set<string>();
  let successor: Slot | undefined;

  // A worker that is asked later than this could not prove anything in time.
  const mayAskAnother = (): boolean =>
    asked.size < ATTEMPTS_MAX && clock.nowSeconds() < deadlines.stopAt;

  const reserve = (waitMs: number, signal?: AbortSignal): Promise<Slot | undefined> => {
    const wish = { modelAddress: model.address, except: asked, waitMs };
    return directory.reserve({ ...wish, ...(signal && { signal }) });
  };

  async function findRival(): Promise<Slot | undefined> {
    const found = mayAskAnother() ? await reserve(0) : undefined;
    if (found && isSound(found.worker)) return found;
    found?.release();
    return undefined;
  }

  async function replace(silence: AbortSignal, { isRival, hasRival }: Lane): Promise<boolean> {
    // Its rival is its successor.
    if (hasRival() && !isRival) return true;
    if (!mayAskAnother()) return false;
    const found = await reserve(SUCCESSOR_WAIT_MS, silence);
    if (silence.aborted) found?.release();
    else successor = found;
    return successor !== undefined;
  }

  function begin(slot: Slot, lane: Lane): ReturnType<typeof ask> {
    asked.add(slot.worker.address);
    const attempt = asked.size;
    return ask(services, {
      ...{ ...options, ...lane, slot, attempt },
      replace: (silence) => replace(silence, lane),
    });
  }

  async function nextSlot(): Promise<Slot | undefined> {
    if (!mayAskAnother()) return undefined;
    const active = directory.active(model.address);
    const hasOthers = active.some(({ address }) => !asked.has(address));
    return reserve(hasOthers ? FAILOVER_WAIT_MS : 0);
  }

  let { slot } = options;
  try {
    for (;;) {
      const end = await askOneOrTwo({ hedgeAfterMs, slot, findRival, begin });
      if (end.kind === 'outrun') throw new Error('an attempt was outrun by none');
      if (end.kind !== 'failed' || end.hasContent) return end;
      const next = successor ?? (await nextSlot());
      successor = undefined;
      if (!next) return end;
      slot = next;
    }
  } finally {
    successor?.release();
  }
}
