/** How sure the ledger is of a slot. */
export type Commitment = 'processed' | 'confirmed' | 'finalized';

/** A block is final when so many slots have passed since, as on clusters. */
export const FINALITY_SLOTS = 32;
