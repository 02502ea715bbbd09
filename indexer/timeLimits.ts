/** How long the indexer's parts wait for what, in milliseconds. */
export interface TimeLimits {
  /**
   * A database that takes longer counts as away, since a connection may have broken silently. Far
   * above what any statement of the mirror, the keepers and the webhooks takes.
   */
  readonly queryMs: number;
  /** Between two probes of a connection that only listens. */
  readonly listenProbeMs: number;
  /** Between two attempts to lead. */
  readonly leadAttemptMs: number;
  /** Between two looks for wallets to suspend. */
  readonly abuseIntervalMs: number;
  /** Between two looks for what is final: it comes seconds after confirmation on a cluster. */
  readonly settleIntervalMs: number;
}

export const TIME_LIMITS: TimeLimits = {
  queryMs: 15_000,
  listenProbeMs: 10_000,
  leadAttemptMs: 1_000,
  abuseIntervalMs: 5_000,
  settleIntervalMs: 2_000,
};
