import anchor from '@coral-xyz/anchor';
import { base58 } from '@scure/base';
import type { PublicKey } from '@solana/web3.js';
import { coder } from '../../../testing/ledger/anchorCoder.ts';
import type { ForgedJobs, JobName } from '../forgedScene.ts';
import type { Forgery, InstructionJson, TransactionJson } from './node.ts';

const { BN } = anchor;

/** One lie of a node about one job, and exactly the checks that it must upset. */
export interface ForgeryCase {
  readonly what: string;
  readonly job: JobName;
  forgery(jobs: ForgedJobs): Forgery;
  readonly fails: readonly string[];
  readonly unchecked?: readonly string[];
}

/** @param fails the checks, with spaces between them */
export const lie = (
  ...[what, job, fails, forgery]: [string, JobName, string, ForgeryCase['forgery']]
): ForgeryCase => ({ what, job, fails: fails.split(' '), forgery });

/** Anchor's tag and the event's discriminator. */
const EVENT_PREFIX_BYTES = 16;
const TAG_BYTES = 8;

/** The inner instructions that carry an event of this name. */
export function eventInstructions({ meta }: TransactionJson, name: string): InstructionJson[] {
  return meta.innerInstructions
    .flatMap(({ instructions }) => instructions)
    .filter((instruction) => decodeEvent(instruction)?.name === name);
}

/** Rewrites fields of an event wherever a transaction has it; names and values as Anchor has them. */
export function forgeEvent(
  name: string,
  change: (fields: Record<string, never>) => Record<string, unknown>,
  job?: PublicKey,
): Forgery {
  return {
    transaction(transaction) {
      for (const instruction of eventInstructions(transaction, name)) {
        const bytes = Buffer.from(base58.decode(instruction.data));
        const fields = decodeEvent(instruction)?.data as Record<string, never>;
        if (job && !job.equals(fields.job as unknown as PublicKey)) continue;
        const forged = coder.types.encode(name, { ...fields, ...change(fields) });
        const prefix = bytes.subarray(0, EVENT_PREFIX_BYTES);
        instruction.data = base58.encode(Buffer.concat([prefix, forged]));
      }
      return transaction;
    },
  };
}

/** Rewrites fields of an account of the program. */
export function forgeAccount(
  address: PublicKey,
  name: string,
  change: (fields: Record<string, never>) => Record<string, unknown>,
): Forgery {
  return {
    account(account, asked) {
      if (asked !== address.toBase58()) return undefined;
      const [base64, encoding] = account.data;
      const bytes = Buffer.from(base64, 'base64');
      const fields = coder.accounts.decode(name, bytes) as Record<string, never>;
      const forged = coder.types.encode(name, { ...fields, ...change(fields) });
      const whole = Buffer.concat([bytes.subarray(0, TAG_BYTES), forged]);
      return { ...account, data: [whole.toString('base64'), encoding] };
    },
  };
}

export function decodeEvent({ data }: InstructionJson) {
  return coder.events.decode(
    Buffer.from(base58.decode(data)).subarray(TAG_BYTES).toString('base64'),
  );
}

/** A version that does not exist. */
const UNKNOWN_VERSION = 7;

/**
 * Says of transactions that they are of an unknown version, after all else that it says.
 *
 * @param names of which events; by default of all transactions
 */
export function ofUnknownVersion(names?: readonly string[], forgery: Forgery = {}): Forgery {
  return {
    ...forgery,
    transaction(transaction) {
      const isMeant =
        !names || names.some((name) => eventInstructions(transaction, name).length > 0);
      const forged = forgery.transaction ? forgery.transaction(transaction) : transaction;
      return isMeant && forged ? { ...forged, version: UNKNOWN_VERSION } : forged;
    },
  };
}

/** Forges only the transaction that has an event of this name. */
export function inTransactionOf(
  name: string,
  change: (transaction: TransactionJson) => void,
): Forgery {
  return {
    transaction(transaction) {
      if (eventInstructions(transaction, name).length === 0) return transaction;
      change(transaction);
      return transaction;
    },
  };
}

/** Adds to 64-bit fields. */
export const plus =
  (amount: number, ...names: string[]) =>
  (fields: Record<string, never>) =>
    Object.fromEntries(names.map((name) => [name, new BN(fields[name] as never).addn(amount)]));
export const plusOne = (field: string) => plus(1, field);
export const set = (field: string, value: unknown) => () => ({ [field]: value });

export function flipByte(data: string, at: number): string {
  const bytes = base58.decode(data);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return base58.encode(bytes);
}

/** The instructions of a settlement in two steps. */
export const PROVE = 0;
export const SETTLE = 1;

/** The instructions of jobs that were completed in one transaction. */
export const COMPLETED = 0;
export const RETRIED = 1;

export function outer(transaction: TransactionJson, index: number) {
  const found = transaction.transaction.message.instructions[index];
  if (!found) throw new Error('the transaction has no such instruction');
  return found;
}

/** Rewrites arguments of an instruction of the program; names and values as Anchor has them. */
export function forgeArguments(
  transaction: TransactionJson,
  index: number,
  change: (args: Record<string, never>) => Record<string, unknown>,
): void {
  const instruction = outer(transaction, index);
  const decoded = coder.instruction.decode(Buffer.from(base58.decode(instruction.data)));
  if (!decoded) throw new Error('no instruction of the program');
  const args = decoded.data as Record<string, never>;
  const forged = coder.instruction.encode(decoded.name, { ...args, ...change(args) });
  instruction.data = base58.encode(forged);
}

/** A change of one byte in a field of bytes. */
export const flip = (field: string) => (fields: Record<string, never>) => {
  const [first = 0, ...others] = fields[field] as unknown as number[];
  return { [field]: [first ^ 1, ...others] };
};

/** The two token transfers of a settlement, made by this instruction. */
export function transfers({ meta }: TransactionJson, instruction = SETTLE) {
  const [toWorker, toTreasury] =
    meta.innerInstructions.find(({ index }) => index === instruction)?.instructions ?? [];
  if (!toWorker || !toTreasury) throw new Error('a settlement has two transfers');
  return { toWorker, toTreasury };
}
