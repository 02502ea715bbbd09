/** The escrow program's client: addresses, instructions, accounts, events, proofs and sending. */
export * from './accounts.ts';
export * from './addresses.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './instructions/index.ts';
export * from './jobId.ts';
export * from './pricing.ts';
export { IDL } from './program.ts';
export * from './proof.ts';
export type * from './types.ts';
export * from './views.ts';
export * from './vocabulary.ts';
