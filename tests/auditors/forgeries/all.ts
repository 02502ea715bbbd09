import { COMPLETION_FORGERIES } from './completion.ts';
import { ENDING_FORGERIES } from './ending.ts';
import { EVIDENCE_FORGERIES } from './evidence.ts';
import type { ForgeryCase } from './forge.ts';
import { LOCK_FORGERIES } from './lock.ts';
import { PROOF_FORGERIES } from './proof.ts';
import { SETTLEMENT_FORGERIES } from './settlement.ts';

/** Every lie about a job that a node is caught in. */
export const FORGERIES: readonly ForgeryCase[] = [
  ...LOCK_FORGERIES,
  ...PROOF_FORGERIES,
  ...COMPLETION_FORGERIES,
  ...SETTLEMENT_FORGERIES,
  ...EVIDENCE_FORGERIES,
  ...ENDING_FORGERIES,
];
