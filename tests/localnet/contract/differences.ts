import type { Difference } from './compare.ts';

/** A way in which the local ledger and another are not the same, and why that is as it should be. */
interface StatedDifference {
  /** The places that it explains: the call's name, then the path in its answer. */
  readonly where: RegExp;
  readonly reason: string;
  /** The only ledger that may be so. */
  readonly of?: 'surfpool' | 'the validator';
}

const anyLedger = (where: RegExp, reason: string): StatedDifference => ({ where, reason });
const surfpool = (where: RegExp, reason: string): StatedDifference => ({
  ...anyLedger(where, reason),
  of: 'surfpool',
});
const validator = (where: RegExp, reason: string): StatedDifference => ({
  ...anyLedger(where, reason),
  of: 'the validator',
});

/** All there are. Anything else that differs is a bug of one or the other. */
const DIFFERENCES: readonly StatedDifference[] = [
  anyLedger(
    /^get(Slot|BlockHeight|BlockTime|FirstAvailableBlock|TransactionCount)\.result$/,
    'Each ledger counts from its own beginning, and has its own time.',
  ),
  anyLedger(
    /^getVersion\.result\.(svc-localnet|surfnet-version)$/,
    'Each says which program it is.',
  ),
  anyLedger(
    /^getInflationGovernor\.result/,
    'The local ledger mints nothing for validators: it has no inflation.',
  ),
  anyLedger(
    /\.(value|error\.data)\.(fee|loadedAccountsDataSize|loadedAddresses|(pre|post)(Token)?Balances)$/,
    'A simulation on the local ledger leaves out balances, loaded addresses and sizes, which the ' +
      'youngest nodes report: LiteSVM does not.',
  ),
  anyLedger(
    /\.error\.(message|data)$/,
    'Errors have the same codes. The words are each program’s own.',
  ),
  anyLedger(
    /^sendTransaction with a byte behind it\./,
    'The local ledger takes a transaction in its one encoding only, as leaders do.',
  ),
  anyLedger(
    /^getAccountInfo at no commitment\./,
    'Clusters take a commitment that is none as if it were missing; the local ledger names it.',
  ),
  validator(
    /\.meta\.costUnits$/,
    'LiteSVM does not say how much a transaction loaded, on which its cost rests.',
  ),
  validator(
    /^getTransaction (transfer|made|without)[^.]*\.result\.meta\.(computeUnitsConsumed|logMessages\b.*)$/,
    'The token and memo programs are of other releases there: they need and say something else.',
  ),
  validator(
    /\.meta\.(pre|post)Balances\.\d+$/,
    'Among the accounts are programs, whose binaries and so whose rent are others there.',
  ),
  validator(
    /^getBlock\.result\.(transactions|rewards)\b/,
    'A validator votes in its blocks, and is paid for them.',
  ),
  validator(
    /^sendTransaction that was sent\./,
    'A preflight sees the state of its commitment, in which the first sending may not be yet; ' +
      'the local ledger has executed it by then.',
  ),
  surfpool(
    /^subscription\..+\.context\.apiVersion$/,
    'surfpool says its release in notifications, too; clusters say it in answers alone.',
  ),
  surfpool(
    /\.transactionIndex$/,
    'surfpool does not say a transaction’s position in its block; clusters do.',
  ),
  surfpool(
    /^getAccountInfo of a token account in base58\./,
    'surfpool answers words in place of data too long for base58; clusters refuse, as we do.',
  ),
  surfpool(
    /^getAccountInfo without a configuration\.result\.value$/,
    'surfpool has one commitment for all; by default clusters answer what is final.',
  ),
  // Where the comparison took so long that the mint is final.
  surfpool(
    /^getAccountInfo without a configuration\.result\.value\.data$/,
    'surfpool gives base64 by default; clusters give base58.',
  ),
  surfpool(
    /^getTokenAccountBalance of a mint\.error\.code$/,
    'surfpool says parse error (−32700) of an account that is no token account.',
  ),
  surfpool(
    /uiAmountString$/,
    'surfpool leaves zeros at the end of an amount, or the decimal point out.',
  ),
  surfpool(/\.meta\.returnData$/, 'surfpool has empty return data; clusters leave the field out.'),
  surfpool(
    /^getTransaction without versions\.result\.version$/,
    'surfpool has the version also where no version was asked for.',
  ),
  surfpool(
    /^getBlock\.result\.transactions\./,
    'surfpool has a block’s transactions in words, with any encoding.',
  ),
  surfpool(
    /^getBlock that is not yet\./,
    'surfpool has null for a block that is not there yet; clusters refuse with −32004.',
  ),
  surfpool(
    /^(getSignaturesForAddress at processed|getTransaction at processed|getMultipleAccounts of too many)\./,
    'surfpool takes parameters that clusters refuse.',
  ),
  surfpool(
    /\.blockTime$/,
    'surfpool has a transaction’s time in another unit; clusters have Unix seconds.',
  ),
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
