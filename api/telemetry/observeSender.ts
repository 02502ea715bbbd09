import type { Sender } from '../../programs/client/sender/sender.ts';
import type { ApiMetrics } from './metrics.ts';

/** Counts what goes through the sender, by lane and outcome. */
export function observeSender(sender: Sender, metrics: ApiMetrics): Sender {
  return {
    async send(sending) {
      const lane = sending.lane ?? 'none';
      const startedMs = performance.now();
      let outcome = 'unknown';
      metrics.sendStarted(lane);
      try {
        const result = await sender.send(sending);
        outcome = result.status;
        return result;
      } finally {
        metrics.sendEnded(lane, outcome, (performance.now() - startedMs) / 1_000);
      }
    },
    waitedMs: (lane) => sender.waitedMs(lane),
    close: () => sender.close(),
  };
}
