import { TOKEN_PROGRAM_ID } from '@solana/spl-token';
import {
  type Connection,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { type Refusal, refusalOf } from '../programs/client/sender/outcome.ts';

/** An instruction that was sent as the first of its transaction. */
export interface SentInstruction {
  /** As in the program's reference. */
  readonly name: string;
  readonly instruction: TransactionInstruction;
  readonly payer: PublicKey;
}

/** What the escrow calls, and what of their numbered errors can come of it. */
const CALLED = new Map<string, { name: string; errors: Readonly<Record<number, string>> }>([
  [
    SystemProgram.programId.toBase58(),
    { name: 'system', errors: { 0: 'account already in use', 1: 'insufficient funds' } },
  ],
  [
    TOKEN_PROGRAM_ID.toBase58(),
    {
      name: 'token',
      errors: { 1: 'insufficient funds', 4: 'owner does not match', 17: 'account is frozen' },
    },
  ],
]);
/** Of an error that a program numbers itself, as `refusalOf` tells it. */
const NUMBERED = /^\{"Custom":(\d+)\}$/;
/** A node's log of a program that gave up; what programs log themselves begins otherwise. */
const FAILED = /^Program (\w+) failed: /;

/** Says in a sentence which program refused which instruction, and why. */
export async function describeRefusal(
  refusal: Refusal,
  sent: SentInstruction,
  connection: Connection,
): Promise<string> {
  const { name, code, instructionIndex } = refusal;
  const [, text] = NUMBERED.exec(name) ?? [];
  const number = text === undefined ? undefined : Number(text);
  const word = number === undefined ? name : `error ${number}`;
  if (instructionIndex === null) return `The ledger refused it: ${name}.`;
  if (code !== null) return `The escrow program refused ${sent.name}: ${name}.`;
  // What the sender appends says what the transaction may use.
  if (instructionIndex > 0) {
    return `The compute budget program refused the limits of ${sent.name}: ${word}.`;
  }
  const program = await failingProgram(refusal, sent, connection);
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
 * The ledger tells which instruction failed, and not which program that it called. A simulation's
 * log does.
 *
 * @returns undefined where it ends otherwise, or cannot be asked for
 */
async function failingProgram(
  refusal: Refusal,
  { instruction, payer }: SentInstruction,
  connection: Connection,
): Promise<string | undefined> {
  const message = new TransactionMessage({
    payerKey: payer,
    // Replaced by the node.
    recentBlockhash: PublicKey.default.toBase58(),
    instructions: [instruction],
  }).compileToV0Message();
  // The refusal is what has to be told, whatever becomes of this question.
  const answer = await connection
    .simulateTransaction(new VersionedTransaction(message), {
      ...{ commitment: 'confirmed', sigVerify: false, replaceRecentBlockhash: true },
    })
    .catch(() => undefined);
  const { err = null, logs = null } = answer?.value ?? {};
  if (err === null || refusalOf(err).name !== refusal.name) return undefined;
  // The innermost one gives up first.
  return logs?.map((line) => FAILED.exec(line)?.[1]).find((program) => program !== undefined);
}
