/** The chain that tests run the program on. */
export type { Chain } from './kit/chain.ts';
export { AUTHORITY, startLiteSvm as startChain } from './kit/litesvm.ts';
