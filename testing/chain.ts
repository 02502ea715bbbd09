/** The chain that tests run the program on. */
export type { Chain } from './kit/chain.ts';
export { authorityKey, startLiteSvm as startChain } from './kit/litesvm.ts';
