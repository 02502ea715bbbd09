/** The chain that tests run the program on. */
export type { Chain } from '../../testing/chain.ts';
export { AUTHORITY, startLiteSvm as startChain } from '../../testing/litesvm.ts';
