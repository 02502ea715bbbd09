import { base58 } from '@scure/base';
import {
  type Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js';
import { Command } from 'commander';
import { describePayerShortage } from '../common/payerShortage.ts';
import { PROGRAM_ID, TOKEN_PROGRAM } from '../programs/client/addresses.ts';
import type { SignedMessage } from '../programs/client/proof.ts';
import {
  getBlockHeight,
  getLatestBlockhash,
  getSlotSeconds,
} from '../programs/client/rpc/methods.ts';
import type { Rpc } from '../programs/client/rpc/rpc.ts';
import { type Refusal, refusalOf } from '../programs/client/sender/index.ts';
import { simulate } from '../programs/client/sender/simulate.ts';
import { compileMessage, encodeMessage } from '../programs/client/wire/index.ts';
import {
  accountNames,
  buildInstruction,
  missingSigners,
  readSignedMessage,
} from './instructionInput.ts';
import { keyOption } from './terminal/keyOption.ts';
import { addLedgerOptions, type LedgerOptions, withLedgerNode } from './terminal/ledgerNode.ts';
import { CommandError } from './terminal/output.ts';
import { sendTransaction } from './terminal/sendTransaction.ts';

/** An instruction that was sent. */
interface SentInstruction {
  /** As in the program's reference. */
  readonly name: string;
  readonly instruction: TransactionInstruction;
  readonly payer: PublicKey;
}

/** The programs that the escrow calls, and their errors that may occur. */
const CALLED = new Map<string, { name: string; errors: Readonly<Record<number, string>> }>([
  [
    SystemProgram.programId.toBase58(),
    { name: 'system', errors: { 0: 'account already in use', 1: 'insufficient funds' } },
  ],
  [
    TOKEN_PROGRAM.toBase58(),
    {
      name: 'token',
      errors: { 1: 'insufficient funds', 4: 'owner does not match', 17: 'account is frozen' },
    },
  ],
]);
/** An error with a program's own number, in the form of `refusalOf`. */
const NUMBERED = /^\{"Custom":(\d+)\}$/;
/** A node's log line of a failed program; lines by programs themselves begin otherwise. */
const FAILED = /^Program (\w+) failed: /;

/** A sentence with the program that refused, the instruction and the reason. */
export async function describeRefusal(
  refusal: Refusal,
  sent: SentInstruction,
  rpc: Rpc,
): Promise<string> {
  const { name, code, instructionIndex } = refusal;
  const [, text] = NUMBERED.exec(name) ?? [];
  const number = text === undefined ? undefined : Number(text);
  const word = number === undefined ? name : `error ${number}`;
  if (instructionIndex === null) return `The ledger refused it: ${name}.`;
  if (code !== null) return `The escrow program refused ${sent.name}: ${name}.`;
  // The sender appends instructions of the compute budget program.
  if (instructionIndex > 0) {
    return `The compute budget program refused the limits of ${sent.name}: ${word}.`;
  }
  const program = await failingProgram(refusal, sent, rpc);
  if (program === undefined) {
    return number === undefined
      ? `The ledger refused ${sent.name}: ${word}.`
      : `The ledger refused ${sent.name}: ${word} of a program that is not known.`;
  }
  if (program === sent.instruction.programId.toBase58()) {
    return `The escrow program refused ${sent.name}: ${word}.`;
  }
  const called = CALLED.get(program);
  const known = number === undefined ? undefined : called?.errors[number];
  const who = called ? `The ${called.name} program` : `The program ${program}`;
  return `${who}, called by ${sent.name}, refused: ${known ? `${known} (${word})` : word}.`;
}

/**
 * The ledger reports which instruction failed, but not which called program. A simulation's log does.
 *
 * @returns undefined when the simulation ends otherwise or fails
 */
async function failingProgram(
  refusal: Refusal,
  { instruction, payer }: SentInstruction,
  rpc: Rpc,
): Promise<string | undefined> {
  const draft = { payer, instructions: [instruction], watched: [] };
  // A failed simulation must not hide the refusal.
  const asked = simulate(rpc, { ...draft, commitment: 'confirmed' });
  const answer = await asked.catch(() => undefined);
  if (!answer?.err || refusalOf(answer.err).name !== refusal.name) return undefined;
  // The innermost program fails first.
  return answer.logs.map((line) => FAILED.exec(line)?.[1]).find((program) => program !== undefined);
}

/** The most expensive instruction, dispute_resolve, takes 31,000 with two proofs. */
const COMPUTE_UNITS_MAX = 100_000;

interface Options extends LedgerOptions {
  readonly signer?: readonly Keypair[];
  readonly signedMessage?: readonly SignedMessage[];
  readonly print?: boolean;
}

/**
 * `svc send`: sends any instruction of the program with the given keys, or prints it for a multisig.
 * It serves governance, gateways, verdicts and stakes.
 */
export function createSendCommand(): Command {
  const command = new Command('send')
    .description('send one instruction of the program, or print it for a multisig')
    .argument('<instruction>', 'its name in docs/instructions')
    .argument('[fields...]', 'its accounts and arguments as name=value');
  return addLedgerOptions(command, "the ledger's node")
    .option(
      '--signer <file>',
      'a keypair file that signs; the first one pays; repeat for more',
      (text: string, keys: readonly Keypair[] = []) => [...keys, readSigner(text)],
    )
    .option(
      '--signed-message <file>',
      'a proof or receipt that a verdict rests on; repeat for a second',
      (path: string, read: readonly SignedMessage[] = []) => [...read, readSignedMessage(path)],
    )
    .option('--print', 'print the message in base58 instead of signing and sending it')
    .action(async (name: string, words: string[], options: Options) => {
      const { signer: signers = [], program: programId = PROGRAM_ID } = options;
      const signer = signers[0]?.publicKey;
      const { signedMessage: evidence } = options;
      const instruction = buildInstruction({ name, words, signer, programId, evidence });
      console.error(describeAccounts(name, instruction));
      const answer = await withLedgerNode(options, ({ rpc }) =>
        options.print ? print(instruction, rpc) : send({ name, instruction }, rpc, signers),
      );
      console.log(answer);
    });
}

/** @returns the transaction's signature, once it is confirmed */
async function send(
  { name, instruction }: Omit<SentInstruction, 'payer'>,
  rpc: Rpc,
  signers: readonly Keypair[],
): Promise<string> {
  const missing = missingSigners(instruction, signers);
  const [payer, ...others] = signers;
  if (!payer || missing.length > 0) {
    throw new CommandError(`Needs --signer for ${missing.join(' and ') || 'the fee'}.`);
  }
  const sent = { name, instruction, payer: payer.publicKey };
  return sendTransaction(
    rpc,
    {
      payer,
      signers: others,
      instructions: [instruction],
      computeUnitLimit: COMPUTE_UNITS_MAX,
    },
    async (refusal) =>
      (await describePayerShortage(refusal, payer.publicKey, rpc)) ??
      describeRefusal(refusal, sent, rpc),
  );
}

/** The multisig replaces the message's blockhash; the first signing account pays. */
async function print(instruction: TransactionInstruction, rpc: Rpc): Promise<string> {
  const feePayer = instruction.keys.find(({ isSigner }) => isSigner)?.pubkey;
  if (!feePayer) throw new CommandError('This instruction needs no signer: send it from any key.');
  const { value } = await getLatestBlockhash(rpc, { commitment: 'confirmed' });
  console.error(await describeLife(value.lastValidBlockHeight, rpc));
  const blockhash = base58.decode(value.blockhash);
  const content = { instructions: [instruction], feePayer, blockhash };
  return base58.encode(encodeMessage(compileMessage({ version: 'legacy', ...content })));
}

/** For how long the printed message may be signed as it is, by the ledger's own pace. */
async function describeLife(lastValidBlockHeight: number, rpc: Rpc): Promise<string> {
  const [{ height }, slotSeconds] = await Promise.all([
    getBlockHeight(rpc, { commitment: 'confirmed' }),
    getSlotSeconds(rpc),
  ]);
  const seconds = slotSeconds && Math.floor((lastValidBlockHeight - height) * slotSeconds);
  return (
    `Its blockhash lives until block ${lastValidBlockHeight}` +
    `${seconds ? `, for about ${seconds} s` : ''}. A later signature needs another one, which a ` +
    "multisig's transaction builder puts in."
  );
}

/** Every account with its name, so that the caller sees the addresses that were filled in. */
function describeAccounts(name: string, { keys }: TransactionInstruction): string {
  const names = accountNames(name);
  return keys.map(({ pubkey }, index) => `${names[index]?.padEnd(24)} ${pubkey}`).join('\n');
}

const readSigner = keyOption('--signer');
