import type { Connection } from '@solana/web3.js';

/** All that reading and verification need of a ledger's node; web3.js's Connection has it. */
export type LedgerConnection = Pick<
  Connection,
  | 'getAccountInfo'
  | 'getAccountInfoAndContext'
  | 'getMultipleAccountsInfoAndContext'
  | 'getProgramAccounts'
  | 'getSignaturesForAddress'
  | 'getTransaction'
>;
