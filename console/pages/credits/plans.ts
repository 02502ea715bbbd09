import {
  associatedTokenAddress,
  BASE_UNITS_PER_CREDIT,
  createAddresses,
  creditBuy,
  creditOpen,
  creditWithdraw,
  decodeAccount,
  decodeTokenAccount,
  limitSet,
  NO_LIMIT,
  PublicKey,
  spenderSet,
  tokenAccountCreate,
} from '@svc-inference/client/wallet';
import { formatUsdc } from '../../design/credits.tsx';
import { formatCount } from '../../design/formats.ts';
import type { Plan } from '../../ledger/transaction.ts';

/** What a spender may lock; undefined means that the wallet states no limit. */
export interface Limits {
  readonly perJobCredits: bigint | undefined;
  readonly perDayCredits: bigint | undefined;
}

interface Wallet {
  readonly wallet: string;
  readonly programId: string;
  readonly creditMint: string;
}

const zeroKey = () => new PublicKey(new Uint8Array(32));
const limitOf = (credits: bigint | undefined): bigint => credits ?? NO_LIMIT;
/** What this service may lock, a sentence for each limit. */
const limitSentences = ({ perJobCredits, perDayCredits }: Limits): string[] => {
  const sentence = (credits: bigint | undefined, period: string) =>
    credits === undefined
      ? `This service has no limit for a ${period}.`
      : `This service may lock ${formatCount(credits)} credits per ${period}.`;
  return [sentence(perJobCredits, 'job'), sentence(perDayCredits, 'day')];
};

function keysOf({ wallet, programId, creditMint }: Wallet) {
  const owner = new PublicKey(wallet);
  const mint = new PublicKey(creditMint);
  const program = new PublicKey(programId);
  const addresses = createAddresses(program);
  return {
    owner,
    mint,
    program,
    creditAccount: addresses.creditAccount(owner),
    tokenAccount: associatedTokenAddress(mint, owner),
  };
}

/** What the wallet would have, in sentences. */
function balancesAfter(accounts: readonly (Uint8Array | null)[]): string[] {
  const [credit, token] = accounts;
  const account = credit ? decodeAccount(credit) : undefined;
  const lines: string[] = [];
  if (account?.name === 'CreditAccount') {
    const { availableCredits } = account.data;
    lines.push(`You then have ${formatCount(availableCredits)} credits available.`);
  }
  if (token) {
    const { amount } = decodeTokenAccount(token);
    lines.push(
      `Your wallet then holds ${formatUsdc(amount / BASE_UNITS_PER_CREDIT)} of the stablecoin.`,
    );
  }
  return lines;
}

/** Buys credits; the first purchase opens the account and names the gateway with its limits. */
export function buyPlan(
  purchase: Wallet & {
    readonly credits: bigint;
    readonly gateway: string;
    readonly isOpen: boolean;
    /** Absent where the spender stays as it is. */
    readonly limits: Limits | undefined;
  },
): Plan {
  const { credits, gateway, isOpen, limits } = purchase;
  const { owner, program: programId, creditAccount, tokenAccount } = keysOf(purchase);
  const spender = limits && {
    programId,
    wallet: owner,
    spender: new PublicKey(gateway),
    limitPerJobCredits: limitOf(limits.perJobCredits),
    limitPerDayCredits: limitOf(limits.perDayCredits),
  };
  const opening = () =>
    spender
      ? creditOpen({ ...spender, payer: owner })
      : creditOpen({ programId, payer: owner, wallet: owner });
  const before = isOpen ? (spender ? [spenderSet(spender)] : []) : [opening()];
  const buy = creditBuy({
    ...{ programId, buyer: owner, buyerTokenAccount: tokenAccount, wallet: owner, credits },
  });
  return {
    title: `Buy ${formatCount(credits)} credits`,
    creditMint: purchase.creditMint,
    instructions: [...before, buy],
    watched: [creditAccount.toBase58(), tokenAccount.toBase58()],
    describe: (accounts) => [
      `You pay ${formatUsdc(credits)} of the stablecoin ${purchase.creditMint} for ${formatCount(credits)} credits.`,
      ...(isOpen ? [] : ['Your credit account is opened; its rent is paid in SOL by your wallet.']),
      ...(limits ? limitSentences(limits) : []),
      ...balancesAfter(accounts),
    ],
  };
}

/** Turns credits back into stablecoin, in a token account that is made where there is none. */
export function withdrawPlan(withdrawal: Wallet & { readonly credits: bigint }): Plan {
  const { credits } = withdrawal;
  const { owner, mint, program: programId, creditAccount, tokenAccount } = keysOf(withdrawal);
  return {
    title: `Withdraw ${formatCount(credits)} credits`,
    creditMint: withdrawal.creditMint,
    instructions: [
      tokenAccountCreate({ payer: owner, owner, mint }),
      creditWithdraw({ programId, wallet: owner, destination: tokenAccount, credits }),
    ],
    watched: [creditAccount.toBase58(), tokenAccount.toBase58()],
    describe: (accounts) => [
      `${formatUsdc(credits)} of the stablecoin ${withdrawal.creditMint} go to your wallet.`,
      ...balancesAfter(accounts),
    ],
  };
}

/** Names the gateway with new limits, or changes the limits where it is the spender already. */
export function limitsPlan(
  change: Omit<Wallet, 'creditMint'> & {
    readonly gateway: string;
    readonly isSpender: boolean;
    readonly limits: Limits;
  },
): Plan {
  const { gateway, isSpender, limits } = change;
  const programId = new PublicKey(change.programId);
  const wallet = new PublicKey(change.wallet);
  const fields = {
    programId,
    wallet,
    limitPerJobCredits: limitOf(limits.perJobCredits),
    limitPerDayCredits: limitOf(limits.perDayCredits),
  };
  return {
    title: 'Change the limits',
    instructions: [
      isSpender ? limitSet(fields) : spenderSet({ ...fields, spender: new PublicKey(gateway) }),
    ],
    watched: [],
    describe: () => [
      ...(isSpender ? [] : ['This service becomes the spender of your credit account.']),
      ...limitSentences(limits),
    ],
  };
}

/** Takes the spender away: nobody but the wallet locks credits from then on. */
export function stopSpenderPlan(wallet: string, programId: string): Plan {
  return {
    title: 'Stop the spender',
    instructions: [
      spenderSet({
        programId: new PublicKey(programId),
        wallet: new PublicKey(wallet),
        spender: zeroKey(),
        limitPerJobCredits: 0n,
        limitPerDayCredits: 0n,
      }),
    ],
    watched: [],
    describe: () => [
      'Nobody but your wallet may lock your credits any more.',
      'Jobs under way end as they would. New requests with your API key get 403.',
    ],
  };
}
