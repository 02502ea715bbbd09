/** What an instruction takes of the transaction that carries it. */
export interface InstructionCost {
  /**
   * 1.15 to 1.2 times what is measured with the token program of clusters, since accounts differ. A
   * priority fee is paid on what is asked for.
   */
  readonly computeUnits: number;
  /** Itself, its event, and each call of another program: at most 64 in a transaction. */
  readonly calls: number;
}

/** By the IDL's names. */
export const COSTS = {
  job_lock: { computeUnits: 4_522, calls: 3 },
  job_acknowledge: { computeUnits: 2_260, calls: 2 },
  /** Pays the worker and the treasury. */
  job_complete: { computeUnits: 22_200, calls: 4 },
  job_settle: { computeUnits: 5_650, calls: 4 },
  job_fail: { computeUnits: 2_036, calls: 2 },
  job_refund: { computeUnits: 1_865, calls: 2 },
  job_dispute: { computeUnits: 2_220, calls: 2 },
  job_close: { computeUnits: 1_710, calls: 2 },
  dispute_expire: { computeUnits: 1_943, calls: 2 },
  claim_pay: { computeUnits: 3_540, calls: 3 },
} as const satisfies Readonly<Record<string, InstructionCost>>;
