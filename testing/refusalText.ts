import type { TransactionError } from '../localnet/runtime/transactionError.ts';

/**
 * What a Refusal says of a failure: Solana's own words where a program or the runtime names a
 * number, the runtime's name of the error elsewhere, such as `PrivilegeEscalation`.
 */
export function refusalText(error: TransactionError): string {
  if (typeof error === 'string') return error;
  if (!('InstructionError' in error)) return JSON.stringify(error);
  const [index, cause] = error.InstructionError;
  const reason =
    typeof cause === 'string' ? cause : `custom program error: 0x${cause.Custom.toString(16)}`;
  return `Error processing Instruction ${index}: ${reason}`;
}
