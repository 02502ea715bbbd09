import type { SendTransactionError, TransactionError } from '@solana/web3.js';
import { IDL } from './codec.ts';
import type { EscrowErrorName } from './generated/types.ts';

export interface EscrowError {
  /** As in the program's source and the IDL, such as `InsufficientCredits`. */
  readonly name: EscrowErrorName;
  readonly code: number;
  /** Position of the refused instruction in its transaction. */
  readonly instructionIndex: number;
}

/** Every refusal's number by its name. Numbers are never given twice. */
export const EscrowErrorCode = Object.freeze(
  Object.fromEntries((IDL.errors ?? []).map(({ name, code }) => [name, code])),
) as Readonly<Record<EscrowErrorName, number>>;

const names = new Map(
  Object.entries(EscrowErrorCode).map(([name, code]) => [code, name as EscrowErrorName]),
);

/** How the ledger's nodes print an instruction's own error. */
const PRINTED = /Error processing Instruction (\d+): custom program error: 0x([0-9a-f]+)/;
/** How web3.js prints the status of a transaction whose confirmation it waited for. */
const LANDED = /"InstructionError":\[(\d+),\{"Custom":(\d+)\}\]/;

/**
 * The escrow program's refusal behind a transaction's error, from a status or receipt or as web3.js
 * throws it. Undefined when the cause lies elsewhere. Programs number their errors independently. So
 * ask only about transactions whose other programs use numbers below 6000, as the system, token and
 * precompile programs do.
 */
export function escrowErrorOf(
  error: TransactionError | SendTransactionError | null,
): EscrowError | undefined {
  const refusal =
    error instanceof Error ? printed(error as SendTransactionError) : structured(error);
  const name = refusal && names.get(refusal.code);
  return refusal && name ? { name, ...refusal } : undefined;
}

type Refusal = Pick<EscrowError, 'code' | 'instructionIndex'>;

function structured(error: TransactionError | null): Refusal | undefined {
  if (error === null || typeof error === 'string' || !('InstructionError' in error)) return;
  const [instructionIndex, cause] = error.InstructionError as [number, unknown];
  const code = cause instanceof Object && 'Custom' in cause ? cause.Custom : undefined;
  return typeof code === 'number' ? { code, instructionIndex } : undefined;
}

/** web3.js keeps only texts: a node's at preflight, its own for a transaction that landed. */
function printed(error: Pick<SendTransactionError, 'transactionError'>): Refusal | undefined {
  // Any other error says nothing about a transaction.
  const message = error.transactionError?.message ?? '';
  const refused = PRINTED.exec(message);
  if (refused) {
    const [, index, code = ''] = refused;
    return { instructionIndex: Number(index), code: Number.parseInt(code, 16) };
  }
  const landed = LANDED.exec(message);
  return landed ? { instructionIndex: Number(landed[1]), code: Number(landed[2]) } : undefined;
}
