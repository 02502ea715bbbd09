/**
 * What our transactions may use: the measured figures of `programs/escrow/compute-units.json` with
 * room for what varies (addresses that take more than one try, other token programs).
 */
export const LOCK_COMPUTE_UNITS_MAX = 15_000;
export const ACKNOWLEDGE_COMPUTE_UNITS_MAX = 8_000;
/** Fails, refunds and disputes. */
export const EXIT_COMPUTE_UNITS_MAX = 10_000;
/** Acknowledgement, proof and settlement with both payments. */
export const SETTLEMENT_COMPUTE_UNITS_MAX = 60_000;
