import type { Keypair, PublicKey } from '@solana/web3.js';
import { Command, InvalidArgumentError } from 'commander';
import { fetchCreditAccount } from '../../programs/client/accounts.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { CREDITS_MAX, NO_LIMIT } from '../../programs/client/generated/constants.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { readConfig, readTokenBalance } from '../../worker/setup/ledgerState.ts';
import { explained } from '../terminal/explained.ts';
import { keyOption } from '../terminal/keyOption.ts';
import { parseAddress, withLedgerNode } from '../terminal/ledgerNode.ts';
import { type Change, carryOut } from './carryOut.ts';
import {
  buyChange,
  describeWallet,
  limitsChange,
  stopChange,
  type WalletState,
  withdrawChange,
} from './creditChanges.ts';
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
      .option('--per-day <credits>', 'what it may lock in a day of UTC; or: none', parseLimit);

  addLimits(add('buy', 'buy credits for the stablecoin that limits names, one for 0.01'))
    .argument('<credits>', 'how many', parseCredits)
    .action((amount: bigint, options: Options) =>
      change(options, (state, gateway) =>
        buyChange(state, { credits: amount, gateway, limits: limitsOf(options) }),
      ),
    );
  add('withdraw', 'turn available credits back into stablecoin')
    .argument('<credits>', 'how many; or: all', (text) =>
      text === 'all' ? text : parseCredits(text),
    )
    .action((amount: bigint | 'all', options: Options) =>
      change(options, (state) => withdrawChange(state, amount)),
    );
  addLimits(add('limits', 'show balance, limits and stablecoin, or change who may lock how much'))
    .option('--stop', 'let nobody but the wallet lock its credits')
    .action(changeLimits);
  return credits;
}

const limitsOf = ({ perJob, perDay }: Options) => ({ perJob, perDay });

async function changeLimits(options: Options): Promise<void> {
  if (options.stop) return change(options, stopChange);
  const limits = limitsOf(options);
  if (limits.perJob === undefined && limits.perDay === undefined) {
    return withWallet(options, async (state) => console.log(describeWallet(state)));
  }
  return change(options, (state, gateway) => limitsChange(state, { gateway, limits }));
}

async function change(
  options: Options,
  plan: (state: WalletState, gateway: PublicKey | undefined) => Change,
): Promise<void> {
  const { signer: wallet, yes: isSure = false } = options;
  await withWallet(options, async (state, gateway, rpc) =>
    console.log(await carryOut(plan(state, gateway), { rpc, wallet, isSure })),
  );
}

/** Reads the wallet's state from the ledger that the options or the service name. */
async function withWallet(
  options: Options,
  work: (state: WalletState, gateway: PublicKey | undefined, rpc: Rpc) => Promise<void>,
): Promise<void> {
  const target = await findTarget(options);
  const gateway = options.gateway ?? target.gateway;
  await withLedgerNode(target, async ({ rpc, connection, addresses }) => {
    const state = await readState(connection, addresses, options.signer.publicKey);
    await work(state, gateway, rpc);
  });
}

async function readState(
  connection: LedgerConnection,
  addresses: Addresses,
  wallet: PublicKey,
): Promise<WalletState> {
  const config = await explained(readConfig(connection, addresses));
  const [account, purse] = await Promise.all([
    fetchCreditAccount(connection, addresses.creditAccount(wallet), {
      commitment: 'confirmed',
      programId: addresses.programId,
    }),
    readTokenBalance(connection, config.creditMint, wallet),
  ]);
  return { addresses, config, wallet, account, purse };
}

function parseCredits(text: string): bigint {
  const credits = /^\d{1,14}$/.test(text) ? BigInt(text) : 0n;
  if (credits > 0n && credits <= CREDITS_MAX) return credits;
  throw new InvalidArgumentError(`It must be a whole number of credits from 1 to ${CREDITS_MAX}.`);
}

function parseLimit(text: string): bigint {
  return text === 'none' ? NO_LIMIT : parseCredits(text);
}
