import type { PublicKey } from '@solana/web3.js';
import type { Addresses } from '../../addresses.ts';
import type { EventName, Events } from '../../events.ts';
import type { Job, Worker } from '../../types.ts';
import type { LedgerTransaction } from './transaction.ts';

/** An event with the transaction in which the program emitted it. */
export type PlacedEvent<Name extends EventName = EventName> = {
  [One in Name]: {
    readonly name: One;
    readonly data: Events[One];
    /** The top-level instruction's position in its transaction. */
    readonly instructionIndex: number;
    /** The position among that instruction's inner instructions. */
    readonly innerIndex: number;
    readonly transaction: LedgerTransaction;
  };
}[Name];

/** A transaction that the node lists but does not show, or that this client cannot read. */
export interface Unread {
  readonly signature: string;
  /** A sentence without its full stop. */
  readonly reason: string;
}

/** What lies at a job's address now. */
export type JobAccount =
  | { readonly kind: 'job'; readonly data: Job }
  /** Nothing, or lamports that somebody sent to an address without an account. */
  | { readonly kind: 'none' }
  | { readonly kind: 'foreign'; readonly owner: PublicKey }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** How the ledger recorded a worker's keys. */
export interface WorkerEvidence {
  /** Around the job, oldest first. */
  readonly records: readonly PlacedEvent<'WorkerRegistered' | 'WorkerUpdated'>[];
  /** Whether one of them may be missing: a transaction is listed, and could not be read. */
  readonly hasGaps: boolean;
  /** What the Worker account says now; undefined where none was looked for, or found. */
  readonly account: Worker | undefined;
}

/** Everything that was asked of the ledger about one job. Nothing in it has been judged yet. */
export interface Evidence {
  readonly addresses: Addresses;
  readonly job: PublicKey;
  readonly account: JobAccount;
  /** As of which the node showed the account. What came after it is not known. */
  readonly slot: bigint;
  /** Those of the job, oldest first; failed ones left out, since they changed nothing. */
  readonly transactions: readonly LedgerTransaction[];
  readonly unread: readonly Unread[];
  /** Events of the wallet's credit account: the job's own, and those that came right before. */
  readonly creditEvents: readonly PlacedEvent[];
  readonly worker: WorkerEvidence;
  /** The ledger's Clock when this was gathered, in Unix seconds. */
  readonly now: bigint;
}

/** What the client holds: it is compared with what the ledger says. */
export interface ClientEvidence {
  /** The answer's bytes as they were received. */
  readonly output?: Uint8Array | undefined;
  /** As it came in `x-svc-delivery-receipt`. */
  readonly receipt?: string | undefined;
}

export function placeEvents(transaction: LedgerTransaction): PlacedEvent[] {
  return transaction.events.map((event) => ({ ...event, transaction }) as PlacedEvent);
}
