import { TOKEN_PROGRAM_ID, TokenInstruction } from '@solana/spl-token';
import type { PlacedEvent } from './evidence.ts';
import type { Instruction, LedgerTransaction } from './transaction.ts';

/** Tokens that the SPL Token program moved. */
export interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly baseUnits: bigint;
}

/** Transfers made by the instruction that emitted an event, before it emitted it. */
export function transfersOf({
  transaction,
  instructionIndex,
  innerIndex,
}: PlacedEvent): Transfer[] {
  const previous = transaction.events.findLast(
    (other) => other.instructionIndex === instructionIndex && other.innerIndex < innerIndex,
  );
  const calls = transaction.instructions[instructionIndex]?.inner ?? [];
  return readTransfers(calls.slice((previous?.innerIndex ?? -1) + 1, innerIndex));
}

/** Every transfer in a transaction, whoever made it. */
export function allTransfers({ instructions }: LedgerTransaction): Transfer[] {
  return instructions.flatMap((outer) => readTransfers([outer, ...outer.inner]));
}

function readTransfers(instructions: readonly Instruction[]): Transfer[] {
  return instructions.flatMap(({ programId, accounts, data }) => {
    if (programId !== TOKEN_PROGRAM_ID.toBase58()) return [];
    const isChecked = data[0] === TokenInstruction.TransferChecked;
    if (!isChecked && data[0] !== TokenInstruction.Transfer) return [];
    const [from = '', to = ''] = isChecked ? [accounts[0], accounts[2]] : accounts;
    return [{ from, to, baseUnits: Buffer.from(data).readBigUInt64LE(1) }];
  });
}
