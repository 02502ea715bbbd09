import type { Difference } from './differences.ts';

/** Where surfpool and the local ledger differ, and why that is well. */
export const STATED: readonly Difference[] = [
  {
    place: '*uiAmountString',
    reason: 'Clusters cut the zeros off, and count decimals: surfpool does neither everywhere.',
  },
  {
    place: 'a transaction in base64.result.transaction.0',
    reason: 'Each ledger has blockhashes of its own, and so the signatures differ.',
  },
  {
    place: '*meta.returnData',
    reason: 'Clusters leave it out where no program returned anything.',
  },
  {
    place: '*.loadedAccountsDataSize',
    reason: 'LiteSVM does not tell how much was loaded.',
  },
  ...['fee', 'loadedAddresses', 'preBalances', 'postBalances'].map((field) => ({
    place: `*.${field}: undefined and null`,
    reason: 'Fields of a later release of Solana, which are null in surfpool.',
  })),
  ...['preTokenBalances', 'postTokenBalances'].map((field) => ({
    place: `*.${field}: undefined and null`,
    reason: 'Fields of a later release of Solana, which are null in surfpool.',
  })),
  {
    place: 'a wrong signature.error',
    reason: 'Clusters answer -32003; surfpool takes it for a failed simulation.',
  },
  {
    place: 'an address that is none.error.data',
    reason: 'The reason is in the message, which people read.',
  },
];
