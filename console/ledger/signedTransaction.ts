import { base58, hex } from '@scure/base';
import {
  type CompiledInstruction,
  type DecodedTransaction,
  decodeTransaction,
  PublicKey,
  verifySignature,
} from '@svc-inference/client/wallet';

/**
 * Wallets may add a fee for priority, and guards that can only make a transaction fail. Neither
 * program moves credits or tokens.
 */
const ADDED_BY_WALLETS = [
  'ComputeBudget111111111111111111111111111111',
  'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95',
];

/** The wallet returned something else than it was asked to sign. */
class WrongTransactionError extends Error {
  override name = 'WrongTransactionError';
}

/**
 * Compares what a wallet returned with what it was asked to sign.
 *
 * @param asked as `encodeDraft` makes it
 * @returns the transaction's signature, which is the wallet's
 * @throws WrongTransactionError for another transaction, or for one that the wallet did not sign
 */
export function signatureOf(signed: Uint8Array, asked: Uint8Array, wallet: string): string {
  const given = tryDecode(signed);
  const wanted = decodeTransaction(asked);
  if (given && given.signatures.length !== wanted.signatures.length)
    throw new WrongTransactionError('The wallet returned a transaction of other signers.');
  if (!given || !isSame(given, wanted)) {
    throw new WrongTransactionError('The wallet returned another transaction than this one.');
  }
  // A decoded transaction has at least one.
  const signature = given.signatures[0] as Uint8Array;
  const { message } = given;
  if (!verifySignature({ publicKey: new PublicKey(wallet), message, signature })) {
    throw new WrongTransactionError('The wallet did not sign with the account that is signed in.');
  }
  return base58.encode(signature);
}

/** Whether both have the same instructions in the same order, and the same blockhash. */
function isSame(given: DecodedTransaction, asked: DecodedTransaction): boolean {
  const rest = asked.instructions.map((instruction) => textOf(instruction, asked));
  const isFitting = given.instructions.every((instruction) => {
    if (textOf(instruction, given) !== rest[0]) return isAddedByWallets(instruction, given);
    rest.shift();
    return true;
  });
  return isFitting && rest.length === 0 && headOf(given) === headOf(asked);
}

/** Version, fee payer and blockhash. */
function headOf({ version, keys, recentBlockhash }: DecodedTransaction): string {
  const [feePayer] = keys as [Uint8Array];
  return [version, hex.encode(feePayer), hex.encode(recentBlockhash)].join(' ');
}

function isAddedByWallets(
  { programIdIndex }: CompiledInstruction,
  { keys }: DecodedTransaction,
): boolean {
  const program = keys[programIdIndex];
  return program !== undefined && ADDED_BY_WALLETS.includes(base58.encode(program));
}

/** Program, accounts and data, by names in place of their places in the message. */
function textOf(
  { programIdIndex, accounts, data }: CompiledInstruction,
  { keys }: DecodedTransaction,
): string {
  // In a message without lookups every index is one of its keys.
  const names = [programIdIndex, ...accounts].map((at) => hex.encode(keys[at] as Uint8Array));
  return [...names, hex.encode(data)].join(' ');
}

/** @returns undefined for bytes that no ledger would take */
function tryDecode(bytes: Uint8Array): DecodedTransaction | undefined {
  try {
    return decodeTransaction(bytes);
  } catch {
    return undefined;
  }
}
