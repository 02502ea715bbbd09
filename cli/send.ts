import {
  type Connection,
  type Keypair,
  LAMPORTS_PER_SOL,
  type PublicKey,
  type TransactionInstruction,
  TransactionMessage,
} from '@solana/web3.js';
import { Command } from 'commander';
import { parseKeypair } from '../common/ledgerSettings.ts';
import { createLogger } from '../common/logger.ts';
import { PROGRAM_ID } from '../programs/client/addresses.ts';
import { encodeBase58 } from '../programs/client/keys.ts';
import { connectRpc } from '../programs/client/rpc/connectRpc.ts';
import {
  createSender,
  LedgerUnavailableError,
  type Refusal,
} from '../programs/client/sender/index.ts';
import { describeRefusal } from './describeRefusal.ts';
import { accountNames, instructionFromWords, missingSigners } from './instructionFields.ts';
import { addLedgerOptions, type LedgerOptions, withLedgerNode } from './ledgerNode.ts';
import { CommandError } from './output.ts';

/** Down to the lamport. */
const SOL_DECIMALS = 9;

/**
 * Says that a transaction was refused because its first signer, who pays the fee, cannot. The
 * ledger's word for it names no account, so the balance is looked at before anybody is blamed.
 *
 * @returns undefined when the cause lies elsewhere, or cannot be told
 */
export async function payerTrouble(
  { name }: Refusal,
  payer: PublicKey,
  connection: Connection,
): Promise<string | undefined> {
  const isShort = name === 'InsufficientFundsForFee' || name === 'InsufficientFundsForRent';
  if (!isShort && name !== 'AccountNotFound') return undefined;
  // The refusal is what has to be told, whatever becomes of this question.
  const lamports = await connection.getBalance(payer).catch(() => undefined);
  const who = `The first signer, ${payer}, pays the fee and has`;
  if (lamports === 0) return `${who} no SOL.`;
  if (lamports === undefined || !isShort) return undefined;
  const sol = (lamports / LAMPORTS_PER_SOL).toFixed(SOL_DECIMALS);
  return name === 'InsufficientFundsForFee'
    ? `${who} only ${sol} SOL.`
    : `${who} only ${sol} SOL: less would be left than an account must hold.`;
}

/** The dearest instruction, config_initialize, takes 26,000 where its addresses are looked up. */
const COMPUTE_UNITS_MAX = 100_000;

interface Options extends LedgerOptions {
  readonly signer?: readonly Keypair[];
  readonly print?: boolean;
}

/**
 * Any instruction of the program, sent by whoever holds the keys, or printed for a multisig that
 * does: governance, gateways, verdicts, stakes.
 */
export function createSendCommand(): Command {
  const command = new Command('send')
    .description('send one instruction of the program, or print it for a multisig')
    .argument('<instruction>', 'its name in docs/instructions')
    .argument('[fields...]', 'its accounts and arguments as name=value');
  return addLedgerOptions(command, "the ledger's node that is read and sent to")
    .option(
      '--signer <file>',
      'a keypair file that signs; the first one pays; repeat for more',
      collectKeys,
    )
    .option('--print', 'print the message in base58 instead of signing and sending it')
    .action(async (name: string, words: string[], options: Options) => {
      const { signer: signers = [], program: programId = PROGRAM_ID } = options;
      const signer = signers[0]?.publicKey;
      const instruction = instructionFromWords({ name, words, signer, programId });
      console.error(describeAccounts(name, instruction));
      const answer = await withLedgerNode(options, ({ connection }) =>
        options.print
          ? print(instruction, connection)
          : send({ name, instruction }, connection, signers),
      );
      console.log(answer);
    });
}

/** @returns the transaction's signature, once it is confirmed */
async function send(
  { name, instruction }: { name: string; instruction: TransactionInstruction },
  connection: Connection,
  signers: readonly Keypair[],
): Promise<string> {
  const missing = missingSigners(instruction, signers);
  const [payer, ...others] = signers;
  if (!payer || missing.length > 0) {
    throw new CommandError(`Needs --signer for ${missing.join(' and ') || 'the fee'}.`);
  }
  const sender = createSender({
    rpc: connectRpc({ url: connection.rpcEndpoint }),
    feePayers: [payer],
    commitment: 'confirmed',
    logger: createLogger({ name: 'svc-cli', level: 'silent' }),
  });
  try {
    const outcome = await sender.send({
      instructions: [instruction],
      signers: others,
      computeUnitLimit: COMPUTE_UNITS_MAX,
    });
    if (outcome.status === 'confirmed') return outcome.signature;
    const sent = { name, instruction, payer: payer.publicKey };
    const why =
      outcome.status === 'rejected'
        ? ((await payerTrouble(outcome.error, payer.publicKey, connection)) ??
          (await describeRefusal(outcome.error, sent, connection)))
        : 'The ledger dropped it.';
    throw new CommandError(`${why} Nothing was changed.`);
  } catch (error) {
    if (!(error instanceof LedgerUnavailableError)) throw error;
    const fate = error.signature && ` Look up ${error.signature} before sending it again.`;
    throw new CommandError(`${error.message}.${fate ?? ' Nothing was sent.'}`, { cause: error });
  } finally {
    sender.close();
  }
}

/** Whoever imports the message replaces its blockhash; the first account that signs pays. */
async function print(instruction: TransactionInstruction, connection: Connection): Promise<string> {
  const payerKey = instruction.keys.find(({ isSigner }) => isSigner)?.pubkey;
  if (!payerKey) throw new CommandError('Nobody has to sign this: send it from any key.');
  const { blockhash } = await connection.getLatestBlockhash();
  const message = new TransactionMessage({
    ...{ payerKey, recentBlockhash: blockhash },
    instructions: [instruction],
  });
  return encodeBase58(message.compileToLegacyMessage().serialize());
}

/** Every account by its name: what was filled in is read here, and what was opened is found. */
function describeAccounts(name: string, { keys }: TransactionInstruction): string {
  const names = accountNames(name);
  return keys.map(({ pubkey }, index) => `${names[index]?.padEnd(24)} ${pubkey}`).join('\n');
}

/** Not commander's own error, which would quote the value: it may be the key itself. */
function collectKeys(text: string, keys: readonly Keypair[] = []): Keypair[] {
  try {
    return [...keys, parseKeypair(text)];
  } catch (error) {
    throw new CommandError(`--signer is ${(error as Error).message}.`);
  }
}
