export type { Chain as LedgerChain } from '../../testing/chain.ts';
export { startEmbeddedLedger as startLedgerChain } from '../../testing/embeddedLedger.ts';
