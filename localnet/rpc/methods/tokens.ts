import { z } from 'zod';
import { nameOfBytes } from '../../../programs/client/platform/bytes.ts';
import { isTokenProgram, mintState, tokenAmount, tokenHolding } from '../../bank/tokenBalances.ts';
import type { Account } from '../../runtime/runtime.ts';
import { addressText } from '../../wire/text.ts';
import { encodeAccount } from '../encode/account.ts';
import { delegateOf } from '../encode/tokenData.ts';
import {
  contextOf,
  invalidParams,
  method,
  type RpcContext,
  withContext,
} from '../protocol/method.ts';
import { accountReading, address, reading } from '../protocol/parameters.ts';

/** The limit of clusters for a mint's largest accounts. */
const LARGEST_MAX = 20;

const whose = z.union([z.object({ mint: address }), z.object({ programId: address })]);

export const tokenMethods = {
  getTokenAccountBalance: method({ address, config: reading }, (context, given) => {
    const { slot, commitment } = contextOf(context, given.config);
    const holding = tokenHolding(context.bank.account(given.address, commitment));
    if (!holding) throw invalidParams('could not find account: it is no token account');
    const mint = mintState(context.bank.account(holding.mint, commitment));
    return withContext(slot, tokenAmount(holding.amount, mint?.decimals ?? 0));
  }),

  getTokenSupply: method({ mint: address, config: reading }, (context, given) => {
    const { slot, commitment } = contextOf(context, given.config);
    const mint = mintState(context.bank.account(given.mint, commitment));
    if (!mint) throw invalidParams('could not find account: it is no mint');
    return withContext(slot, tokenAmount(mint.supply, mint.decimals));
  }),

  getTokenLargestAccounts: method({ mint: address, config: reading }, (context, given) => {
    const { slot, commitment } = contextOf(context, given.config);
    const account = context.bank.account(given.mint, commitment);
    const mint = mintState(account);
    if (!account || !mint) throw invalidParams('could not find account: it is no mint');
    const largest = context.bank
      .accountsOf(account.owner, commitment)
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
    return withContext(slot, largest);
  }),

  getTokenAccountsByOwner: method(
    { owner: address, whose, config: accountReading },
    (context, { owner, whose: which, config }) =>
      tokenAccounts(context, which, config, (account) => {
        const holding = tokenHolding(account);
        return holding !== undefined && nameOfBytes(holding.owner) === nameOfBytes(owner);
      }),
  ),

  getTokenAccountsByDelegate: method(
    { delegate: address, whose, config: accountReading },
    (context, { delegate, whose: which, config }) =>
      tokenAccounts(
        context,
        which,
        config,
        (account) => delegateOf(account) === nameOfBytes(delegate),
      ),
  ),
};

/** The token accounts of a mint or of a token program that pass the filter. */
function tokenAccounts(
  context: RpcContext,
  which: z.output<typeof whose>,
  config: z.output<typeof accountReading>,
  isWanted: (account: Account) => boolean,
): object {
  const { slot, commitment } = contextOf(context, config);
  const { bank } = context;
  const mint = 'mint' in which ? which.mint : undefined;
  const programId =
    'programId' in which ? which.programId : bank.account(which.mint, commitment)?.owner;
  if (!programId || !isTokenProgram(programId)) {
    throw invalidParams(mint ? 'could not find mint' : 'unrecognized Token program id');
  }
  const found = bank.accountsOf(programId, commitment).flatMap(([at, account]) => {
    const holding = tokenHolding(account);
    const isOfMint = !mint || (holding && nameOfBytes(holding.mint) === nameOfBytes(mint));
    if (!holding || !isOfMint || !isWanted(account)) return [];
    return [{ account: encodeAccount(bank.runtime, account, config), pubkey: addressText(at) }];
  });
  return withContext(slot, found);
}
