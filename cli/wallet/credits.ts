import type { Keypair, PublicKey } from '@solana/web3.js';
import { Command, InvalidArgumentError } from 'commander';
import { fetchCreditAccount } from '../../programs/client/accounts.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { CREDITS_MAX, NO_LIMIT } from '../../programs/client/generated/constants.ts';
import type { CreditAccount } from '../../programs/client/generated/types.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import {
  buyPlan,
  type CreditState,
  DAY_COUNTS,
  formatCredits,
  formatLimit,
  formatStablecoin,
  type Limits,
  limitsPlan,
  PlanError,
  proposedLimits,
  type Spender,
  spenderOf,
  stopPlan,
  withdrawPlan,
} from '../../programs/client/wallet/creditPlans.ts';
import type { Plan } from '../../programs/client/wallet/plan.ts';
import { readConfig, readTokenBalance } from '../../worker/setup/ledgerState.ts';
import { SetupError } from '../../worker/setup/setupError.ts';
import { asCommandError, messageOf } from '../terminal/asCommandError.ts';
import { keyOption } from '../terminal/keyOption.ts';
import { parseAddress, withLedgerNode } from '../terminal/ledgerNode.ts';
import { CommandError } from '../terminal/output.ts';
import { signAndSend } from './signAndSend.ts';
import { addTargetOptions, findTarget, type TargetOptions } from './target.ts';

interface Options extends TargetOptions {
  readonly signer: Keypair;
  readonly gateway?: PublicKey;
  readonly perJob?: bigint;
  readonly perDay?: bigint;
  readonly stop?: true;
  readonly yes?: true;
}

/** `svc credits`: what a wallet with a key file does with its credits. */
export function createCreditsCommand(): Command {
  const credits = new Command('credits').description("buy, withdraw and limit a wallet's credits");
  const add = (name: string, description: string): Command =>
    addTargetOptions(
      credits
        .command(name)
        .description(description)
        .requiredOption('--signer <file>', 'the key of the wallet; it pays', keyOption('--signer')),
      'the service: names node, program and gateway',
    ).option('--yes', 'send it without being asked');
  const addLimits = (command: Command): Command =>
    command
      .option('--gateway <address>', 'who may spend them, instead of the service', parseAddress)
      .option('--per-job <credits>', 'what it may lock for a job; or: none', parseLimit)
      .option('--per-day <credits>', 'what a day of UTC may cost and hold; or: none', parseLimit);

  addLimits(add('buy', 'buy credits for the stablecoin that limits names, one for 0.01'))
    .argument('<credits>', 'how many', parseCredits)
    .action((amount: bigint, options: Options) =>
      signPlan(options, (state, service) => {
        const isFirst = state.account === null && service !== undefined;
        const proposed = isFirst ? proposedLimits(amount) : undefined;
        const limits = isFirst || hasLimits(options) ? limitsOf(options, proposed) : undefined;
        return buyPlan(state, { credits: amount, service, limits });
      }),
    );
  add('withdraw', 'turn available credits back into stablecoin')
    .argument('<credits>', 'how many; or: all', (text) =>
      text === 'all' ? text : parseCredits(text),
    )
    .action((amount: bigint | 'all', options: Options) =>
      signPlan(options, (state) => withdrawPlan(state, amount)),
    );
  addLimits(add('limits', 'show balance, limits and stablecoin, or change who may lock how much'))
    .option('--stop', 'let only the wallet lock its credits')
    .action(showOrChangeLimits);
  return credits;
}

const hasLimits = ({ perJob, perDay }: Options) => perJob !== undefined || perDay !== undefined;

/** @throws CommandError where one is neither given nor proposed */
function limitsOf({ perJob, perDay }: Options, proposed?: Limits): Limits {
  const perJobCredits = perJob ?? proposed?.perJobCredits;
  const perDayCredits = perDay ?? proposed?.perDayCredits;
  if (perJobCredits !== undefined && perDayCredits !== undefined) {
    return { perJobCredits, perDayCredits };
  }
  throw new CommandError(
    'Say both --per-job and --per-day: what may be locked, in credits, or none for no limit.',
  );
}

async function showOrChangeLimits(options: Options): Promise<void> {
  if (options.stop) return signPlan(options, stopPlan);
  if (!hasLimits(options)) {
    return withWallet(options, async (state) => console.log(describeWallet(state)));
  }
  const limits = limitsOf(options);
  return signPlan(options, (state, service) => limitsPlan(state, { service, limits }));
}

async function signPlan(
  options: Options,
  makePlan: (state: WalletState, service: Spender | undefined) => Plan,
): Promise<void> {
  const { signer: wallet, yes: isSure = false } = options;
  await withWallet(options, async (state, service, rpc) => {
    const plan = asCommandError(() => makePlan(state, service), messageOf(PlanError));
    console.log(await signAndSend(plan, { rpc, wallet, isSure }));
  });
}

/** Reads the wallet's state from the ledger that the options or the service name. */
async function withWallet(
  options: Options,
  work: (state: WalletState, service: Spender | undefined, rpc: Rpc) => Promise<void>,
): Promise<void> {
  const target = await findTarget(options);
  const address = options.gateway ?? target.gateway;
  await withLedgerNode(target, async ({ rpc, connection, addresses }) => {
    const state = await readState(connection, addresses, options.signer.publicKey);
    await work(state, address && { address, name: address.toBase58() }, rpc);
  });
}

/** What a wallet's credits depend on, and what it has of them and of the stablecoin. */
interface WalletState extends CreditState {
  readonly account: CreditAccount | null;
  readonly stablecoin: { readonly baseUnits: bigint | undefined };
}

async function readState(
  connection: LedgerConnection,
  addresses: Addresses,
  wallet: PublicKey,
): Promise<WalletState> {
  const { programId } = addresses;
  const { creditMint } = await asCommandError(
    () => readConfig(connection, addresses),
    messageOf(SetupError),
  );
  const [account, stablecoin] = await Promise.all([
    fetchCreditAccount(connection, addresses.creditAccount(wallet), {
      commitment: 'confirmed',
      programId,
    }),
    readTokenBalance(connection, creditMint, wallet),
  ]);
  return { programId, wallet, creditMint, account, stablecoin };
}

/** Balance, spender, limits, and what the wallet can buy credits with, in sentences. */
function describeWallet(state: WalletState): string {
  const { creditMint, stablecoin } = state;
  const held =
    stablecoin.baseUnits === undefined
      ? `The wallet has no account of the stablecoin ${creditMint}.`
      : `The wallet holds ${formatStablecoin(stablecoin.baseUnits, creditMint)}.`;
  return `${describeAccount(state)}\n${held}`;
}

function describeAccount({ account, wallet }: WalletState): string {
  if (!account) return `${wallet} has no credit account: its first purchase opens one.`;
  const { availableCredits, lockedCredits, limitPerJobCredits, limitPerDayCredits } = account;
  const spender = spenderOf(account);
  const balance = `${formatCredits(availableCredits)} available, ${formatCredits(lockedCredits)} locked now.`;
  if (!spender) return `${balance}\nNo spender is named.`;
  const perJob = formatLimit(limitPerJobCredits);
  const perDay = formatLimit(limitPerDayCredits);
  return `${balance}\n${spender} may lock ${perJob} a job and ${perDay} a day. ${DAY_COUNTS}`;
}

function parseCredits(text: string): bigint {
  const credits = /^\d{1,14}$/.test(text) ? BigInt(text) : 0n;
  if (credits > 0n && credits <= CREDITS_MAX) return credits;
  throw new InvalidArgumentError(`It must be a whole number of credits from 1 to ${CREDITS_MAX}.`);
}

function parseLimit(text: string): bigint {
  return text === 'none' ? NO_LIMIT : parseCredits(text);
}
