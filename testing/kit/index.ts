/**
 * The escrow program on its own ledger, for tests of programs and services that use it. One call
 * gives funded wallets, models and staked workers, a Clock to move, and a function for every step of
 * a job.
 */
export { type Cast, hashOf, type OneOrMore, type TestWallet, type TestWorker } from './cast.ts';
export { type Chain, Refusal, type TokenHolding } from './chain.ts';
export type { CreditVerbs } from './credits.ts';
export type {
  CompleteOptions,
  JobVerbs,
  LockOptions,
  ProveOptions,
  TestJob,
  Verdict,
} from './jobs.ts';
export type { EscrowOptions } from './options.ts';
export { DEFAULT_SETTINGS, type ModelOffer, STANDARD_MODEL } from './setUp.ts';
export { type Escrow, startEscrow } from './startEscrow.ts';
