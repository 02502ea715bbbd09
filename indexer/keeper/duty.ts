import type { TransactionInstruction } from '@solana/web3.js';
import type { Database } from '../../common/postgres.ts';

/** One thing to do on the ledger that anybody may do. */
export interface Task {
  /** The account it is about. */
  readonly address: string;
  readonly instruction: TransactionInstruction;
}

/** A kind of thing that the keeper does. */
export interface Duty {
  /** As in logs and metrics. */
  readonly name: string;
  /** How many share one transaction. */
  readonly tasksPerTransaction: number;
  readonly computeUnitLimitEach: number;
  /** What the program answers when somebody else has been there before. */
  readonly supersededBy: readonly string[];
  /** When to try again what was refused for any other reason. */
  readonly retryMs: number;
  /** What is due: at most `TASKS_MAX`, the longest due first. */
  find(database: Database, query: DueQuery): Promise<Task[]>;
}

export interface DueQuery {
  /** The ledger's time. */
  readonly nowSeconds: bigint;
  /** Left out: otherwise the same ones, refused again and again, would hide all others. */
  readonly exceptAddresses: readonly string[];
}

/** How a task ended: by the keeper, by somebody else, by a refusal, or before the ledger judged. */
export type TaskResult = 'done' | 'superseded' | 'refused' | 'failed';

/** So many tasks of a kind are looked at in one round. */
export const TASKS_MAX = 200;
