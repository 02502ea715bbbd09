/** The chains that tests run the program on. Only testing/ knows solana-bankrun. */
export { LOCAL_AUTHORITY, startBankrun as startChain } from '../../testing/bankrun.ts';
export type { Chain } from '../../testing/chain.ts';
