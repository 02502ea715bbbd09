/** Something that a wallet may do a few times and not without end. */
export interface Offence {
  /** As in the journal of suspensions, in logs and in metrics. */
  readonly reason: 'unpaid_endings' | 'rejected_disputes';
  /** Those that ended within so many seconds of the ledger's time are counted. */
  readonly windowSeconds: bigint;
  /** The column of `mirror.jobs` that says when. */
  readonly endedAt: 'ended_at' | 'resolved_at';
  /** Which rows of `mirror.jobs` are one. */
  readonly condition: string;
}

const HOUR_SECONDS = 3_600n;

/**
 * Work that a worker did and nobody paid. A client that left counts. An empty answer may be its
 * worker's fault: it counts only where it was the third worker's in turn, so that neither one bad
 * worker nor a pool too small to tell can get anybody suspended.
 */
export const unpaidEndings: Offence = {
  reason: 'unpaid_endings',
  windowSeconds: HOUR_SECONDS,
  endedAt: 'ended_at',
  condition: `failure_reason in ('client_gone', 'empty_output')
    and (failure_reason = 'client_gone' or attempt >= 3)`,
};

/** Disputes that brought no evidence: each binds the operator's rent and the treasury's share. */
export const rejectedDisputes: Offence = {
  reason: 'rejected_disputes',
  windowSeconds: 30n * 24n * HOUR_SECONDS,
  endedAt: 'resolved_at',
  condition: `outcome in ('rejected', 'expired')`,
};
