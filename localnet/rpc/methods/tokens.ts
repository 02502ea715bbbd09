import { z } from 'zod';
import { nameOfBytes } from '../../../programs/client/platform/bytes.ts';
import { isTokenProgram, mintState, tokenAmount, tokenHolding } from '../../bank/tokenBalances.ts';
import type { Account } from '../../runtime/runtime.ts';
import { addressText } from '../../wire/text.ts';
import { encodeAccount } from '../encode/account.ts';
import { delegateOf } from '../encode/tokenData.ts';
import { invalidParams, type Method, stateMethod } from '../protocol/method.ts';
import { accountReading, address, reading } from '../protocol/parameters.ts';

/** The limit of clusters for a mint's largest accounts. */
const LARGEST_MAX = 20;

const whose = z.union([z.object({ mint: address }), z.object({ programId: address })]);

export const tokenMethods = {
  getTokenAccountBalance: stateMethod({ address, config: reading }, ({ bank }, given, as) => {
    const holding = tokenHolding(bank.account(given.address, as.commitment));
    if (!holding) throw invalidParams('could not find account: it is no token account');
    const mint = mintState(bank.account(holding.mint, as.commitment));
    return tokenAmount(holding.amount, mint?.decimals ?? 0);
  }),

  getTokenSupply: stateMethod({ mint: address, config: reading }, ({ bank }, given, as) => {
    const mint = mintState(bank.account(given.mint, as.commitment));
    if (!mint) throw invalidParams('could not find account: it is no mint');
    return tokenAmount(mint.supply, mint.decimals);
  }),

  getTokenLargestAccounts: stateMethod(
    { mint: address, config: reading },
    ({ bank }, given, as) => {
      const account = bank.account(given.mint, as.commitment);
      const mint = mintState(account);
      if (!account || !mint) throw invalidParams('could not find account: it is no mint');
      return bank
        .accountsOf(account.owner, as.commitment)
        .flatMap(([at, holder]) => {
          const holding = tokenHolding(holder);
          const isOfMint = holding && nameOfBytes(holding.mint) === nameOfBytes(given.mint);
          return isOfMint ? [{ at, amount: holding.amount }] : [];
        })
        .sort((one, other) => (other.amount > one.amount ? 1 : -1))
        .slice(0, LARGEST_MAX)
        .map(({ at, amount }) => ({
          address: addressText(at),
          ...tokenAmount(amount, mint.decimals),
        }));
    },
  ),

  getTokenAccountsByOwner: tokenAccounts('owner', (account, owner) => {
    const holding = tokenHolding(account);
    return holding !== undefined && addressText(holding.owner) === owner;
  }),

  getTokenAccountsByDelegate: tokenAccounts(
    'delegate',
    (account, delegate) => delegateOf(account) === delegate,
  ),
};

/**
 * The token accounts of a mint or of a token program that somebody may use.
 *
 * @param isOf whether an account is of the one with this address, in base58
 */
function tokenAccounts(
  role: 'owner' | 'delegate',
  isOf: (account: Account, who: string) => boolean,
): Method {
  const parameters = { [role]: address, whose, config: accountReading };
  return stateMethod(parameters, ({ bank }, given, { commitment }) => {
    const { whose: which, config } = given;
    const who = addressText(given[role] as Uint8Array);
    const mint = 'mint' in which ? which.mint : undefined;
    const programId =
      'programId' in which ? which.programId : bank.account(which.mint, commitment)?.owner;
    if (!programId || !isTokenProgram(programId)) {
      throw invalidParams(mint ? 'could not find mint' : 'unrecognized Token program id');
    }
    return bank.accountsOf(programId, commitment).flatMap(([at, account]) => {
      const holding = tokenHolding(account);
      const isOfMint = !mint || (holding && nameOfBytes(holding.mint) === nameOfBytes(mint));
      if (!holding || !isOfMint || !isOf(account, who)) return [];
      return [{ account: encodeAccount(bank.runtime, account, config), pubkey: addressText(at) }];
    });
  });
}
