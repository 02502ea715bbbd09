import type { TransactionInstruction } from '@solana/web3.js';
import type { Database } from '../../runtime/postgres.ts';

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
  readonly doneErrors: readonly string[];
  /** What is due at the ledger's time; a bounded number, the longest due first. */
  find(database: Database, nowSeconds: bigint): Promise<Task[]>;
}

/** So many tasks of a kind are looked at in one round. */
export const TASKS_MAX = 200;
