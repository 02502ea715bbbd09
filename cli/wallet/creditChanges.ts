import { PublicKey } from '@solana/web3.js';
import { decodeAccount } from '../../programs/client/accounts.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { BASE_UNITS_PER_CREDIT, NO_LIMIT } from '../../programs/client/generated/constants.ts';
import type { Config, CreditAccount } from '../../programs/client/generated/types.ts';
import {
  creditBuy,
  creditOpen,
  creditWithdraw,
  limitSet,
  spenderSet,
} from '../../programs/client/instructions.ts';
import { tokenAccountCreate } from '../../programs/client/token/instructions.ts';
import { decodeTokenAccount } from '../../programs/client/token/layout.ts';
import type { TokenBalance } from '../../worker/setup/ledgerState.ts';
import { CommandError } from '../terminal/output.ts';
import type { Change } from './carryOut.ts';

/** What a wallet's credits depend on, as the ledger has it. */
export interface WalletState {
  readonly addresses: Addresses;
  readonly config: Config;
  readonly wallet: PublicKey;
  /** Null before the first purchase. */
  readonly account: CreditAccount | null;
  /** The wallet's stablecoin. */
  readonly purse: TokenBalance;
}

/** What a spender may lock, in credits; undefined where it was not said. */
export interface Limits {
  readonly perJob: bigint | undefined;
  readonly perDay: bigint | undefined;
}

/** Buys credits; the first purchase opens the account and names the gateway, where one is known. */
export function buyChange(
  state: WalletState,
  { credits, gateway, limits }: { credits: bigint; gateway: PublicKey | undefined; limits: Limits },
): Change {
  const { addresses, config, wallet, account, purse } = state;
  const { programId } = addresses;
  const costs = credits * BASE_UNITS_PER_CREDIT;
  const mint = config.creditMint;
  if ((purse.baseUnits ?? 0n) < costs) {
    throw new CommandError(
      `${formatCredits(credits)} cost ${formatStablecoin(costs, mint)}, and the wallet ${wallet} holds ` +
        `${purse.baseUnits === undefined ? 'none: it has no account of that token' : formatUnits(purse.baseUnits)}.`,
    );
  }
  const isNaming = hasLimits(limits) || (account === null && gateway !== undefined);
  const naming = isNaming ? limitsChange(state, { gateway, limits }) : undefined;
  const opening = account ? [] : [creditOpen({ programId, payer: wallet, wallet })];
  return {
    instructions: [
      ...opening,
      ...(naming?.instructions ?? []),
      creditBuy({
        ...{ programId, buyer: wallet, buyerTokenAccount: purse.address, wallet, credits },
      }),
    ],
    watched: watchedOf(state),
    describe: (accounts) => [
      `You pay ${formatStablecoin(costs, mint)} for ${formatCredits(credits)}.`,
      ...(account ? [] : ['Your credit account is opened; your wallet pays its rent in SOL.']),
      ...(naming?.describe(accounts) ?? []),
      ...(naming || isSpender(account, gateway)
        ? []
        : ['The service may not spend them yet: name it with svc credits limits.']),
      ...balancesAfter(accounts),
    ],
  };
}

/** Turns credits back into stablecoin, in a token account that is made where there is none. */
export function withdrawChange(state: WalletState, wish: bigint | 'all'): Change {
  const { addresses, wallet, account, config, purse } = state;
  const available = account?.availableCredits ?? 0n;
  const credits = wish === 'all' ? available : wish;
  if (credits === 0n || credits > available) {
    throw new CommandError(`The wallet has ${formatCredits(available)} available.`);
  }
  return {
    instructions: [
      tokenAccountCreate({ payer: wallet, owner: wallet, mint: config.creditMint }),
      creditWithdraw({
        ...{ programId: addresses.programId, wallet, destination: purse.address, credits },
      }),
    ],
    watched: watchedOf(state),
    describe: (accounts) => [
      `${formatStablecoin(credits * BASE_UNITS_PER_CREDIT, config.creditMint)} go to your wallet.`,
      ...balancesAfter(accounts),
    ],
  };
}

/** Changes the limits of the spender, or names the gateway with them. */
export function limitsChange(
  { addresses, wallet, account }: WalletState,
  { gateway, limits }: { gateway: PublicKey | undefined; limits: Limits },
): Change {
  const { perJob, perDay } = limits;
  if (perJob === undefined || perDay === undefined) {
    throw new CommandError(
      'Say both --per-job and --per-day: what may be locked, in credits, or none for no limit.',
    );
  }
  const present = account && spenderOf(account);
  const spender = gateway ?? present;
  if (!spender) {
    throw new CommandError('No spender is named yet. Say which: --service or --gateway.');
  }
  const { programId } = addresses;
  const fields = { programId, wallet, limitPerJobCredits: perJob, limitPerDayCredits: perDay };
  const isNamed = present?.equals(spender);
  return {
    instructions: [isNamed ? limitSet(fields) : spenderSet({ ...fields, spender })],
    watched: [],
    describe: () => [
      ...(isNamed ? [] : [`${spender} becomes the spender of your credits.`]),
      `It may lock ${formatLimit(perJob)} a job and ${formatLimit(perDay)} a day.`,
    ],
  };
}

/** Takes the spender away. */
export function stopChange({ addresses, wallet, account }: WalletState): Change {
  if (!account || !spenderOf(account)) throw new CommandError('No spender is named.');
  const { programId } = addresses;
  const nobody = { limitPerJobCredits: 0n, limitPerDayCredits: 0n, spender: PublicKey.default };
  return {
    instructions: [spenderSet({ programId, wallet, ...nobody })],
    watched: [],
    describe: () => ['Nobody but your wallet may lock your credits. Jobs under way go on.'],
  };
}

/** Balance, spender, limits, and what the wallet can buy credits with, in sentences. */
export function describeWallet(state: WalletState): string {
  const { config, purse } = state;
  const held =
    purse.baseUnits === undefined
      ? `The wallet has no account of the stablecoin ${config.creditMint}.`
      : `The wallet holds ${formatStablecoin(purse.baseUnits, config.creditMint)}.`;
  return `${describeAccount(state)}\n${held}`;
}

function describeAccount({ account, wallet }: WalletState): string {
  if (!account) return `${wallet} has no credit account: its first purchase opens one.`;
  const { availableCredits, lockedCredits, limitPerJobCredits, limitPerDayCredits } = account;
  const spender = spenderOf(account);
  const balance = `${formatCredits(availableCredits)} available, ${formatCredits(lockedCredits)} locked.`;
  if (!spender) return `${balance}\nNo spender is named.`;
  const perJob = formatLimit(limitPerJobCredits);
  const perDay = formatLimit(limitPerDayCredits);
  const counted = 'A day of UTC counts whole locks, with what jobs did not cost.';
  return `${balance}\n${spender} may lock ${perJob} a job and ${perDay} a day. ${counted}`;
}

const hasLimits = ({ perJob, perDay }: Limits): boolean =>
  perJob !== undefined || perDay !== undefined;

function spenderOf({ spender }: CreditAccount): PublicKey | undefined {
  return spender.equals(PublicKey.default) ? undefined : spender;
}

/** Whether the gateway, or where none is known anybody, may spend the account's credits. */
function isSpender(account: CreditAccount | null, gateway: PublicKey | undefined): boolean {
  const spender = account && spenderOf(account);
  return spender ? spender.equals(gateway ?? spender) : false;
}

function watchedOf({ addresses, wallet, purse }: WalletState): PublicKey[] {
  return [addresses.creditAccount(wallet), purse.address];
}

/** @param accounts the credit account, and the token account */
function balancesAfter([credit, token]: readonly (Uint8Array | null)[]): string[] {
  const account = credit ? decodeAccount(credit) : undefined;
  const lines: string[] = [];
  if (account?.name === 'CreditAccount') {
    lines.push(`You then have ${formatCredits(account.data.availableCredits)} available.`);
  }
  if (token) {
    lines.push(
      `Your wallet then holds ${formatUnits(decodeTokenAccount(token).amount)} of the stablecoin.`,
    );
  }
  return lines;
}

const count = new Intl.NumberFormat('en-US');

function formatCredits(credits: bigint): string {
  return `${count.format(credits)} ${credits === 1n ? 'credit' : 'credits'}`;
}

function formatLimit(credits: bigint): string {
  return credits === NO_LIMIT ? 'any number of credits' : formatCredits(credits);
}

const DECIMALS = 6;

/** An amount in base units, with the mint by which wallets know the token. */
function formatStablecoin(baseUnits: bigint, mint: PublicKey): string {
  return `${formatUnits(baseUnits)} of the stablecoin ${mint}`;
}

/** An amount in base units, with at least two decimals. */
function formatUnits(baseUnits: bigint): string {
  const digits = String(baseUnits).padStart(DECIMALS + 1, '0');
  const [whole, part] = [digits.slice(0, -DECIMALS), digits.slice(-DECIMALS)];
  const decimals = part.replace(/0+$/, '').padEnd(2, '0');
  return `${count.format(BigInt(whole))}.${decimals}`;
}
