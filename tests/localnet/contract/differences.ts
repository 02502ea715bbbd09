import type { Difference } from './compare.ts';

/** A way in which the local ledger and another are not the same, and why that is as it should be. */
export interface StatedDifference {
  /** The places that it explains: the call's name, then the path in its answer. */
  readonly where: RegExp;
  readonly reason: string;
  /** Where it is that ledger which is not as clusters are, and no other may be so. */
  readonly of?: 'surfpool';
}

/** All there are. Anything else that differs is a bug of one or the other. */
export const DIFFERENCES: readonly StatedDifference[] = [
  {
    where: /^get(Slot|BlockHeight|BlockTime|FirstAvailableBlock|TransactionCount)\.result$/,
    reason: 'Each ledger counts from its own beginning, and has its own time.',
  },
  {
    where: /^getVersion\.result\.(svc-localnet|surfnet-version)$/,
    reason: 'Each says which program it is.',
  },
  {
    where: /^getInflationGovernor\.result/,
    reason: 'The local ledger mints nothing for validators: it has no inflation.',
  },
  {
    where:
      /\.(value|error\.data)\.(fee|loadedAccountsDataSize|loadedAddresses|(pre|post)(Token)?Balances)$/,
    reason:
      'A simulation on the local ledger leaves out balances, loaded addresses and sizes, which the ' +
      'youngest nodes tell: LiteSVM does not.',
  },
  {
    where: /\.error\.(message|data)$/,
    reason: 'Errors have the same codes. The words are each program’s own.',
  },
  {
    where: /^sendTransaction with a byte behind it\./,
    reason: 'The local ledger takes a transaction in its one encoding only, as leaders do.',
  },
  {
    where: /^getAccountInfo of a token account in base58\./,
    of: 'surfpool',
    reason: 'surfpool tells words in place of data too long for base58; clusters refuse, as we do.',
  },
  {
    where: /^getAccountInfo without a configuration\.result\.value$/,
    of: 'surfpool',
    reason: 'surfpool does not tell commitments apart; by default clusters tell what is final.',
  },
  {
    // Where the comparison took so long that the mint is final.
    where: /^getAccountInfo without a configuration\.result\.value\.data$/,
    of: 'surfpool',
    reason: 'surfpool gives base64 by default; clusters give base58.',
  },
  {
    where: /^getTokenAccountBalance of a mint\.error\.code$/,
    of: 'surfpool',
    reason: 'surfpool says parse error (−32700) of an account that is no token account.',
  },
  {
    where: /uiAmountString$/,
    of: 'surfpool',
    reason: 'surfpool leaves zeros at the end of an amount, or the decimal point out.',
  },
  {
    where: /\.meta\.returnData$/,
    of: 'surfpool',
    reason: 'surfpool tells empty return data; clusters leave the field out.',
  },
  {
    where: /^getTransaction without versions\.result\.version$/,
    of: 'surfpool',
    reason: 'surfpool tells the version to whoever did not ask for versions.',
  },
  {
    where: /^sendTransaction with a wrong signature\.error\.code$/,
    of: 'surfpool',
    reason: 'surfpool has −32002 for a wrong signature, clusters −32003.',
  },
  {
    where: /^getBlock\.result\.transactions\./,
    of: 'surfpool',
    reason: 'surfpool tells a block’s transactions in words, whatever encoding was asked for.',
  },
  {
    where: /^getBlock that is not yet\./,
    of: 'surfpool',
    reason: 'surfpool has null for a block that is not there yet; clusters refuse with −32004.',
  },
  {
    where:
      /^(getAccountInfo at no commitment|getSignaturesForAddress at processed|getTransaction at processed|getMultipleAccounts of too many)\./,
    of: 'surfpool',
    reason: 'surfpool takes parameters that clusters refuse.',
  },
  {
    where: /\.blockTime$/,
    of: 'surfpool',
    reason: 'surfpool tells a transaction’s time in another unit; clusters have Unix seconds.',
  },
];

const statedOf = (name: string): readonly StatedDifference[] =>
  DIFFERENCES.filter(({ of = name }) => of === name);

/** @returns the differences from a ledger that nobody has stated */
export function unstated(found: readonly Difference[], name: string): Difference[] {
  return found.filter(({ path }) => !statedOf(name).some(({ where }) => where.test(path)));
}

/** The list, with how often each was met: for whoever reads a run's output. */
export function describeDifferences(found: readonly Difference[], name: string): string {
  const lines = statedOf(name).map(({ where, reason }) => {
    const count = found.filter(({ path }) => where.test(path)).length;
    return `  ${String(count).padStart(3)} × ${reason}`;
  });
  return [`Stated differences from ${name}, and in how many places:`, ...lines, ''].join('\n');
}
