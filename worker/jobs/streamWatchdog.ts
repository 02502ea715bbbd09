import {
  firstSilenceMs,
  promptTexts,
  silentAtMs,
  TEXT_AGE_MS_MAX,
} from '../../common/tokenizers/tokenCounts.ts';
import type { Engine } from '../engine/engine.ts';
import type { ChatRequest } from '../protocol/contracts.ts';
import { WorkerError } from '../protocol/errors.ts';

const MS_PER_SECOND = 1_000;
/** A gateway's count began earlier: it includes the way here and the reading of the ledger. */
const HEAD_START_MS = 5_000;

/**
 * Watches for the silences that make a gateway close the connection, so that the record does not
 * blame the caller. Time in which the reader holds the engine up does not count.
 */
export function watchStream(engine: Engine, chat: ChatRequest, nowMs: () => number) {
  const firstMs = firstSilenceMs(promptTexts(chat));
  const begunAtMs = nowMs() - HEAD_START_MS;
  let aliveAtMs = begunAtMs;
  /** When the wait for the next event began; undefined while the last one is sent. */
  let askedAtMs: number | undefined;
  let textAtMs: number | undefined;
  let hasWritten = false;

  /** For how long the model has been silent, or without text; undefined within its limits. */
  function silentMs(): number | undefined {
    if (askedAtMs === undefined) return undefined;
    const now = nowMs();
    const limitMs = silentAtMs({ begunAtMs, aliveAtMs }, hasWritten ? undefined : firstMs);
    if (now >= limitMs) return now - askedAtMs;
    // A gateway gives up an answer whose model shows life without text, once the job's time is up.
    const textlessMs = now - (textAtMs ?? now);
    return textlessMs > TEXT_AGE_MS_MAX ? textlessMs : undefined;
  }

  return {
    engine: {
      kind: engine.kind,
      async *generate(...work: Parameters<Engine['generate']>) {
        askedAtMs = nowMs();
        for await (const event of engine.generate(...work)) {
          if (event.type === 'text' || event.type === 'call') textAtMs = nowMs();
          hasWritten ||= event.type !== 'alive';
          askedAtMs = undefined;
          yield event;
          askedAtMs = nowMs();
          aliveAtMs = askedAtMs;
        }
      },
    },
    /** Why the caller closed the connection: `silent` beyond the limits, otherwise `caller_gone`. */
    reasonOfClose(): WorkerError {
      const ms = silentMs();
      if (ms === undefined)
        return new WorkerError('caller_gone', 'The caller closed the connection');
      const seconds = Math.floor(ms / MS_PER_SECOND);
      return new WorkerError(
        'silent',
        `The model wrote nothing for ${seconds} s, until the caller closed the connection`,
      );
    },
  };
}
