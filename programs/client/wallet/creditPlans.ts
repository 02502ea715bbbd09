import type { PublicKey as Key } from '@solana/web3.js';
import { PublicKey } from '#platform';
import { decodeAccount } from '../accounts.ts';
import { createAddresses } from '../addresses.ts';
import { BASE_UNITS_PER_CREDIT, CREDIT_MINT_DECIMALS, NO_LIMIT } from '../generated/constants.ts';
import type { CreditAccount } from '../generated/types.ts';
import { creditBuy, creditOpen, creditWithdraw, limitSet, spenderSet } from '../instructions.ts';
import { associatedTokenAddress, tokenAccountCreate } from '../token/instructions.ts';
import { decodeTokenAccount } from '../token/layout.ts';
import type { Plan } from './plan.ts';

/** What a wallet's plans depend on, as the ledger has it. */
export interface CreditState {
  readonly programId: Key;
  readonly wallet: Key;
  /** Of the stablecoin that buys credits. */
  readonly creditMint: Key;
  /** Null before the first purchase. */
  readonly account: Pick<CreditAccount, 'availableCredits' | 'spender'> | null;
  /** The wallet's stablecoin, undefined without a token account; absent where it was not read. */
  readonly stablecoin?: { readonly baseUnits: bigint | undefined };
}

/** An address that may lock a wallet's credits. */
export interface Spender {
  readonly address: Key;
  /** How the sentences name it. */
  readonly name: string;
}

/** What a spender may lock, in credits; `NO_LIMIT` where the wallet sets none. */
export interface Limits {
  readonly perJobCredits: bigint;
  readonly perDayCredits: bigint;
}

/** The most that a new spender is offered for one job. */
const PROPOSED_PER_JOB_CREDITS = 400n;

/** What a spender that is named with a purchase is offered: all that was bought, on any one day. */
export function proposedLimits(bought: bigint): Limits {
  const perJobCredits = bought < PROPOSED_PER_JOB_CREDITS ? bought : PROPOSED_PER_JOB_CREDITS;
  return { perJobCredits, perDayCredits: bought };
}

/** What the limit per day bounds. */
export const DAY_COUNTS = 'A day of UTC counts what was charged today and what is locked now.';

/** A plan cannot be made; the message says what its owner lacks. */
export class PlanError extends Error {
  override name = 'PlanError';
}

/**
 * Buys credits. The first purchase opens the account.
 *
 * @param purchase.service may lock them, where one is known
 * @param purchase.limits of the service; absent where the account's spender stays as it is
 * @throws PlanError where the wallet is known to hold too little stablecoin
 */
export function buyPlan(
  state: CreditState,
  purchase: { credits: bigint; service: Spender | undefined; limits: Limits | undefined },
): Plan {
  const { programId, wallet, creditMint, account } = state;
  const { credits, service, limits } = purchase;
  const costs = formatStablecoin(credits * BASE_UNITS_PER_CREDIT, creditMint);
  requireStablecoin(state, credits);
  const naming = limits && limitsPlan(state, { service, limits });
  const isReady = naming !== undefined || isSpender(account, service);
  const opening = { programId, payer: wallet, wallet };
  const openAccount = () =>
    limits && service
      ? creditOpen({ ...opening, spender: service.address, ...limitFields(limits) })
      : creditOpen(opening);
  return {
    ...creditPlan(state, `Buy ${formatCredits(credits)}`),
    instructions: [
      ...(account ? (naming?.instructions ?? []) : [openAccount()]),
      creditBuy({
        ...{ programId, buyer: wallet, wallet, credits },
        buyerTokenAccount: associatedTokenAddress(creditMint, wallet),
      }),
    ],
    describe: (accounts) => [
      `You pay ${costs} for ${formatCredits(credits)}.`,
      ...(account ? [] : ['Your credit account is opened; your wallet pays its rent in SOL.']),
      ...(naming?.describe([]) ?? []),
      ...(isReady ? [] : [notReady(service)]),
      ...balancesAfter(accounts),
    ],
  };
}

/**
 * Turns credits back into stablecoin, in a token account that is made where there is none.
 *
 * @throws PlanError where fewer credits are available
 */
export function withdrawPlan(state: CreditState, amount: bigint | 'all'): Plan {
  const { programId, wallet, creditMint, account } = state;
  const available = account?.availableCredits ?? 0n;
  const credits = amount === 'all' ? available : amount;
  if (credits === 0n || credits > available) {
    throw new PlanError(`The wallet has ${formatCredits(available)} available.`);
  }
  const destination = associatedTokenAddress(creditMint, wallet);
  return {
    ...creditPlan(state, `Withdraw ${formatCredits(credits)}`),
    instructions: [
      tokenAccountCreate({ payer: wallet, owner: wallet, mint: creditMint }),
      creditWithdraw({ programId, wallet, destination, credits }),
    ],
    describe: (accounts) => [
      `${formatStablecoin(credits * BASE_UNITS_PER_CREDIT, creditMint)} go to your wallet.`,
      ...balancesAfter(accounts),
    ],
  };
}

/**
 * Changes the limits of the spender, or names the service with them.
 *
 * @throws PlanError where there is neither
 */
export function limitsPlan(
  { programId, wallet, account }: CreditState,
  { service, limits }: { service: Spender | undefined; limits: Limits },
): Plan {
  const present = spenderOf(account);
  const address = service?.address ?? present;
  if (!address) throw new PlanError('No spender is named yet, and no service is given to be one.');
  const fields = { programId, wallet, ...limitFields(limits) };
  const { perJobCredits, perDayCredits } = limits;
  const isNamed = present?.equals(address);
  const name = service?.name ?? address.toBase58();
  return {
    title: 'Change the limits',
    signer: wallet.toBase58(),
    instructions: [isNamed ? limitSet(fields) : spenderSet({ ...fields, spender: address })],
    describe: () => [
      ...(isNamed ? [] : [`${name} becomes the spender of your credits.`]),
      `${name} may lock ${formatLimit(perJobCredits)} a job and ${formatLimit(perDayCredits)} a day.`,
      ...(perDayCredits === NO_LIMIT ? [] : [DAY_COUNTS]),
    ],
  };
}

/**
 * Takes the spender away.
 *
 * @throws PlanError where none is named
 */
export function stopPlan({ programId, wallet, account }: CreditState): Plan {
  if (!spenderOf(account)) throw new PlanError('No spender is named.');
  const none = { spender: PublicKey.default, limitPerJobCredits: 0n, limitPerDayCredits: 0n };
  return {
    title: 'Stop the spender',
    signer: wallet.toBase58(),
    instructions: [spenderSet({ programId, wallet, ...none })],
    describe: () => [
      'Only your wallet may lock your credits then.',
      'Running jobs go on. New requests with your API key get 403.',
    ],
  };
}

const limitFields = ({ perJobCredits, perDayCredits }: Limits) => ({
  limitPerJobCredits: perJobCredits,
  limitPerDayCredits: perDayCredits,
});

/** What every plan that moves credits has in common. */
function creditPlan({ programId, wallet, creditMint }: CreditState, title: string) {
  const creditAccount = createAddresses(programId).creditAccount(wallet);
  const tokenAccount = associatedTokenAddress(creditMint, wallet);
  return {
    title,
    signer: wallet.toBase58(),
    creditMint: creditMint.toBase58(),
    watched: [creditAccount.toBase58(), tokenAccount.toBase58()],
  };
}

function requireStablecoin({ stablecoin, creditMint, wallet }: CreditState, credits: bigint): void {
  const costs = credits * BASE_UNITS_PER_CREDIT;
  if (!stablecoin || (stablecoin.baseUnits ?? 0n) >= costs) return;
  const held =
    stablecoin.baseUnits === undefined
      ? 'none: it has no account of that token'
      : formatUnits(stablecoin.baseUnits);
  throw new PlanError(
    `${formatCredits(credits)} cost ${formatStablecoin(costs, creditMint)}, and the wallet ${wallet} holds ${held}.`,
  );
}

/** The spender of an account; undefined where it has none. */
export function spenderOf(account: Pick<CreditAccount, 'spender'> | null): Key | undefined {
  return !account || PublicKey.default.equals(account.spender) ? undefined : account.spender;
}

/** Whether the service, or any where none is known, may lock the account's credits. */
function isSpender(account: CreditState['account'], service: Spender | undefined): boolean {
  const spender = spenderOf(account);
  return spender?.equals(service?.address ?? spender) ?? false;
}

const notReady = (service: Spender | undefined): string =>
  service
    ? `${service.name} may not spend them yet: name it by changing the limits.`
    : 'No service may spend them yet: name one by changing the limits.';

/** @param accounts the credit account, and the token account */
function balancesAfter([credit, token]: readonly (Uint8Array | null)[]): string[] {
  const account = credit ? decodeAccount(credit) : undefined;
  const lines: string[] = [];
  if (account?.name === 'CreditAccount') {
    lines.push(`You then have ${formatCredits(account.data.availableCredits)} available.`);
  }
  if (token) {
    const held = formatUnits(decodeTokenAccount(token).amount);
    lines.push(`Your wallet then holds ${held} of the stablecoin.`);
  }
  return lines;
}

/** With commas between thousands. Without `Intl`, whose first object costs a browser more than a page. */
const formatCount = (value: bigint): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

export function formatCredits(credits: bigint): string {
  return `${formatCount(credits)} ${credits === 1n ? 'credit' : 'credits'}`;
}

export function formatLimit(credits: bigint): string {
  return credits === NO_LIMIT ? 'any number of credits' : formatCredits(credits);
}

/** An amount in base units, with the mint by which wallets know the token. */
export function formatStablecoin(baseUnits: bigint, mint: Key): string {
  return `${formatUnits(baseUnits)} of the stablecoin ${mint}`;
}

/** An amount in base units, with at least two decimals. */
function formatUnits(baseUnits: bigint): string {
  const digits = String(baseUnits).padStart(CREDIT_MINT_DECIMALS + 1, '0');
  const whole = digits.slice(0, -CREDIT_MINT_DECIMALS);
  const part = digits.slice(-CREDIT_MINT_DECIMALS);
  return `${formatCount(BigInt(whole))}.${part.replace(/0+$/, '').padEnd(2, '0')}`;
}
