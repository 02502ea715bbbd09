/** How long the indexer's parts wait for what, in milliseconds. */
export const TIME_LIMITS = {
  /**
   * A database that takes longer counts as away, since a connection may have broken silently. Far
   * above what any statement of the mirror, the keepers and the webhooks takes.
   */
  queryMs: 15_000,
  /** Between two probes of a connection that only listens. */
  listenProbeMs: 10_000,
  /** Between two attempts to lead. */
  leadAttemptMs: 1_000,
  /** Between two looks for wallets to suspend. */
  abuseIntervalMs: 5_000,
  /** Between two looks for what is final: it comes seconds after confirmation on a cluster. */
  settleIntervalMs: 2_000,
};

export type TimeLimits = Readonly<typeof TIME_LIMITS>;
