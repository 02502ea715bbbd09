import type { Difference } from './compare.ts';

/** A way in which the local ledger and another are not the same, and why that is as it should be. */
export interface StatedDifference {
  /** The places that it explains: the call's name, then the path in its answer. */
  readonly where: RegExp;
  readonly reason: string;
  /** The only ledger that may be so. */
  readonly of?: 'surfpool' | 'the validator';
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
      'youngest nodes report: LiteSVM does not.',
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
    where: /^getAccountInfo at no commitment\./,
    reason:
      'Clusters take a commitment that is none as if it were missing; the local ledger names it.',
  },
  {
    where: /\.meta\.costUnits$/,
    of: 'the validator',
    reason: 'LiteSVM does not say how much a transaction loaded, on which its cost rests.',
  },
  {
    where:
      /^getTransaction (transfer|made|without)[^.]*\.result\.meta\.(computeUnitsConsumed|logMessages\b.*)$/,
    of: 'the validator',
    reason:
      'The token and memo programs are of other releases there: they need and say something else.',
  },
  {
    where: /\.meta\.(pre|post)Balances\.\d+$/,
    of: 'the validator',
    reason: 'Among the accounts are programs, whose binaries and so whose rent are others there.',
  },
  {
    where: /^getBlock\.result\.(transactions|rewards)\b/,
    of: 'the validator',
    reason: 'A validator votes in its blocks, and is paid for them.',
  },
  {
    where: /^sendTransaction that was sent\./,
    of: 'the validator',
    reason:
      'A preflight sees the state of its commitment, in which the first sending may not be yet; ' +
      'the local ledger has executed it by then.',
  },
  {
    where: /^subscription\..+\.context\.apiVersion$/,
    of: 'surfpool',
    reason: 'surfpool says its release in notifications, too; clusters say it in answers alone.',
  },
  {
    where: /\.transactionIndex$/,
    of: 'surfpool',
    reason: 'surfpool does not say a transaction’s position in its block; clusters do.',
  },
  {
    where: /^getAccountInfo of a token account in base58\./,
    of: 'surfpool',
    reason:
      'surfpool answers words in place of data too long for base58; clusters refuse, as we do.',
  },
  {
    where: /^getAccountInfo without a configuration\.result\.value$/,
    of: 'surfpool',
    reason: 'surfpool has one commitment for all; by default clusters answer what is final.',
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
    reason: 'surfpool has empty return data; clusters leave the field out.',
  },
  {
    where: /^getTransaction without versions\.result\.version$/,
    of: 'surfpool',
    reason: 'surfpool has the version also where no version was asked for.',
  },
  {
    where: /^getBlock\.result\.transactions\./,
    of: 'surfpool',
    reason: 'surfpool has a block’s transactions in words, with any encoding.',
  },
  {
    where: /^getBlock that is not yet\./,
    of: 'surfpool',
    reason: 'surfpool has null for a block that is not there yet; clusters refuse with −32004.',
  },
  {
    where:
      /^(getSignaturesForAddress at processed|getTransaction at processed|getMultipleAccounts of too many)\./,
    of: 'surfpool',
    reason: 'surfpool takes parameters that clusters refuse.',
  },
  {
    where: /\.blockTime$/,
    of: 'surfpool',
    reason: 'surfpool has a transaction’s time in another unit; clusters have Unix seconds.',
  },
];

const statedOf = (name: string): readonly StatedDifference[] =>
  DIFFERENCES.filter(({ of = name }) => of === name);

/** @returns the differences from a ledger that are not listed here */
export function unstated(found: readonly Difference[], name: string): Difference[] {
  return found.filter(({ path }) => !statedOf(name).some(({ where }) => where.test(path)));
}

/** The list, with how often each was met, for the output of a run. */
export function describeDifferences(found: readonly Difference[], name: string): string {
  const lines = statedOf(name).map(({ where, reason }) => {
    const count = found.filter(({ path }) => where.test(path)).length;
    return `  ${String(count).padStart(3)} × ${reason}`;
  });
  return [`Stated differences from ${name}, and in how many places:`, ...lines, ''].join('\n');
}
