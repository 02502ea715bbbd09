import {
  claimPay,
  creditBuy,
  creditOpen,
  creditWithdraw,
  limitSet,
  spenderSet,
} from '../../../../programs/client/index.ts';
import { NO_SPENDER, UNLIMITED } from '../../../../testing/kit/setUp.ts';
import { composeWallet } from '../newcomers.ts';
import { addresses, BASE_UNITS_PER_CREDIT, SETTINGS } from '../world.ts';
import { NO_LIMIT, openBook, smaller, type WalletBook } from './books.ts';
import { attempt, isFrozen, pick, rarely, type Step, type Walk } from './walk.ts';

const WALLETS_MAX = 3;

/** A step about one of the wallets. */
const onWallet =
  (act: (walk: Walk, wallet: WalletBook) => Promise<void>): Step =>
  async (walk) => {
    const wallet = pick(walk, walk.books.wallets);
    if (wallet !== undefined) await act(walk, wallet);
  };

const open: Step = async (walk) => {
  const { world, books } = walk;
  const known = pick(walk, books.wallets);
  const isNew = books.wallets.length < WALLETS_MAX || known === undefined;
  const party = isNew ? await composeWallet(world) : known.party;
  const trustsGateway = rarely(walk, 2);
  const wallet = party.keypair.publicKey;
  const named = trustsGateway ? { spender: world.gateway, ...UNLIMITED } : {};
  const instruction = creditOpen({ payer: world.stranger.publicKey, wallet, ...named });
  if (await attempt(walk, isNew, instruction)) {
    books.wallets.push(openBook(party, trustsGateway));
  }
};

const buy = onWallet(async (walk, wallet) => {
  const { books, random } = walk;
  const { keypair, tokens } = wallet.party;
  const credits = BigInt(random.below(3_000));
  const held = wallet.availableCredits + wallet.lockedCredits + wallet.owedCredits;
  const allowed =
    credits > 0n &&
    !books.depositsPaused &&
    !isFrozen(walk, addresses.vault) &&
    held + credits <= SETTINGS.creditAccountCreditsMax;
  const instruction = creditBuy({
    ...{ buyer: keypair.publicKey, buyerTokenAccount: tokens, wallet: keypair.publicKey, credits },
  });
  if (await attempt(walk, allowed, instruction)) wallet.availableCredits += credits;
});

/** Takes this many credits out. */
export async function withdraw(walk: Walk, wallet: WalletBook, credits: bigint): Promise<void> {
  const { keypair, tokens } = wallet.party;
  const allowed =
    credits > 0n && credits <= wallet.availableCredits && !isFrozen(walk, addresses.vault);
  const destination = { wallet: keypair.publicKey, destination: tokens };
  const instruction = creditWithdraw({ ...destination, credits });
  if (await attempt(walk, allowed, instruction)) wallet.availableCredits -= credits;
}

const setSpender = onWallet(async (walk, wallet) => {
  const { world } = walk;
  const trustsGateway = !rarely(walk, 6);
  const owner = wallet.party.keypair;
  const named = trustsGateway ? { spender: world.gateway, ...UNLIMITED } : NO_SPENDER;
  const instruction = spenderSet({ wallet: owner.publicKey, ...named });
  await attempt(walk, true, instruction);
  const { limitPerJobCredits, limitPerDayCredits } = named;
  Object.assign(wallet, { trustsGateway, limitPerJobCredits, limitPerDayCredits });
});

const setLimits = onWallet(async (walk, wallet) => {
  const owner = wallet.party.keypair;
  const limits = {
    limitPerJobCredits: rarely(walk, 6) ? 9n : NO_LIMIT,
    limitPerDayCredits: rarely(walk, 6) ? 40n : NO_LIMIT,
  };
  const instruction = limitSet({ wallet: owner.publicKey, ...limits });
  const isSet = await attempt(walk, wallet.trustsGateway, instruction);
  if (isSet) Object.assign(wallet, limits);
});

const claim = onWallet(async (walk, wallet) => {
  const { treasury } = walk.books;
  const credits = smaller(treasury.baseUnits / BASE_UNITS_PER_CREDIT, wallet.owedCredits);
  const canPay = !isFrozen(walk, addresses.treasuryVault) && !isFrozen(walk, addresses.vault);
  const instruction = claimPay({ claimant: wallet.party.creditAccount });
  if (!(await attempt(walk, credits > 0n && canPay, instruction))) return;
  treasury.baseUnits -= credits * BASE_UNITS_PER_CREDIT;
  wallet.owedCredits -= credits;
  wallet.availableCredits += credits;
});

export const walletSteps: readonly Step[] = [
  open,
  buy,
  onWallet((walk, wallet) => {
    const most = Number(wallet.availableCredits) + 5;
    return withdraw(walk, wallet, BigInt(walk.random.below(most)));
  }),
  setSpender,
  setLimits,
  claim,
];
