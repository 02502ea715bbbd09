import type { PublicKey } from '@solana/web3.js';
import type { Logger } from '../../common/logger.ts';
import type { Database } from '../../common/postgres.ts';
import {
  type Batcher,
  createBatcher,
  type LedgerClock,
  type Sender,
} from '../../programs/client/sender/index.ts';
import type { IndexerMetrics } from '../metrics.ts';
import { closeJobs } from './closeJobs.ts';
import { expireDisputes } from './expireDisputes.ts';
import { createKeeper, type Keeper } from './keeper.ts';
import { payClaims } from './payClaims.ts';
import { refundOverdueJobs } from './refundOverdueJobs.ts';

/** Nobody waits for a keeper, so its tasks may gather for a while. */
const LINGER_MS = 50;

/** One keeper for each duty, all paying from the same crank. */
export function createKeepers(options: {
  programId: PublicKey;
  database: Database;
  sender: Sender;
  clock: LedgerClock;
  logger: Logger;
  metrics: Pick<IndexerMetrics, 'duty' | 'due'>;
  nowMs: () => number;
}): { keepers: Keeper[]; close(): void } {
  const { programId, sender } = options;
  const batchers: Batcher[] = [];
  const keepers = [refundOverdueJobs, expireDisputes, closeJobs, payClaims].map((createDuty) => {
    const duty = createDuty(programId);
    const batcher = createBatcher({
      sender,
      maxInstructions: duty.tasksPerTransaction,
      lingerMs: LINGER_MS,
      computeUnitLimitEach: duty.computeUnitLimitEach,
    });
    batchers.push(batcher);
    return createKeeper({ ...options, duty, batcher });
  });
  return {
    keepers,
    close() {
      for (const batcher of batchers) batcher.close();
    },
  };
}
