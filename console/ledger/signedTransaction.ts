import { base58, hex } from '@scure/base';
import { PublicKey, verifySignature } from '@svc-inference/client/wallet';

const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const HEADER_BYTES = 3;

/**
 * Wallets may add a fee for priority, and guards that can only make a transaction fail. Neither
 * program moves credits or tokens.
 */
const ADDED_BY_WALLETS = [
  'ComputeBudget111111111111111111111111111111',
  'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95',
];

/** A message of the legacy kind, as far as two are compared. */
interface Message {
  readonly signers: number;
  readonly feePayer: string | undefined;
  readonly blockhash: string;
  readonly instructions: readonly { readonly program: string; readonly text: string }[];
}

/** The wallet returned what nobody asked it to sign. */
class WrongTransactionError extends Error {
  override name = 'WrongTransactionError';
}

/** The transaction as the ledger's network carries it, with empty places for the signatures. */
export function draftOf(message: {
  readonly bytes: Uint8Array;
  readonly signers: readonly unknown[];
}): Uint8Array {
  const { bytes, signers } = message;
  const draft = new Uint8Array(1 + signers.length * SIGNATURE_BYTES + bytes.length);
  draft[0] = signers.length;
  draft.set(bytes, draft.length - bytes.length);
  return draft;
}

/**
 * Holds what a wallet returned against what it was asked to sign.
 *
 * @param asked as `draftOf` makes it
 * @returns the transaction's signature, which is the wallet's
 * @throws WrongTransactionError for another transaction, or for one that the wallet did not sign
 */
export function signatureOf(signed: Uint8Array, asked: Uint8Array, wallet: string): string {
  if (signed[0] !== asked[0])
    throw new WrongTransactionError('The wallet returned a transaction of other signers.');
  const start = 1 + (asked[0] ?? 0) * SIGNATURE_BYTES;
  const message = signed.subarray(start);
  if (!isSame(readMessage(message), readMessage(asked.subarray(start)))) {
    throw new WrongTransactionError('The wallet returned another transaction than this one.');
  }
  const signature = signed.subarray(1, 1 + SIGNATURE_BYTES);
  if (!verifySignature({ publicKey: new PublicKey(wallet), message, signature })) {
    throw new WrongTransactionError('The wallet did not sign with the account that is signed in.');
  }
  return base58.encode(signature);
}

/** Whether the one does what the other does, in its order and until the same block. */
function isSame(one: Message | undefined, asked: Message | undefined): boolean {
  if (one === undefined || asked === undefined) return false;
  const rest = [...asked.instructions];
  const isFitting = one.instructions.every(({ program, text }) => {
    if (text !== rest[0]?.text) return ADDED_BY_WALLETS.includes(program);
    rest.shift();
    return true;
  });
  return (
    isFitting &&
    rest.length === 0 &&
    one.signers === asked.signers &&
    one.feePayer === asked.feePayer &&
    one.blockhash === asked.blockhash
  );
}

/** @returns undefined for what is no message of the legacy kind */
function readMessage(bytes: Uint8Array): Message | undefined {
  let at = 0;
  const take = (count: number): Uint8Array => {
    at += count;
    return bytes.subarray(at - count, at);
  };
  // Seven bits a byte, lowest first.
  const takeLength = (): number => {
    const [byte = 0] = take(1);
    return byte < 0x80 ? byte : (byte & 0x7f) + 0x80 * takeLength();
  };
  // However many a broken message claims, there are never more of them than bytes.
  const takeList = <Item>(item: () => Item) =>
    Array.from({ length: Math.min(takeLength(), bytes.length) }, item);

  const [signers = 0] = take(HEADER_BYTES);
  const keys = takeList(() => base58.encode(take(KEY_BYTES)));
  const blockhash = base58.encode(take(KEY_BYTES));
  const instructions = takeList(() => {
    const program = keys[take(1)[0] ?? 0] ?? '';
    const accounts = Array.from(take(takeLength()), (place) => keys[place] ?? '');
    return { program, text: [program, ...accounts, hex.encode(take(takeLength()))].join(' ') };
  });
  // A later version begins with a greater number than there may be signers.
  const isWhole = signers < 0x80 && at === bytes.length;
  return isWhole ? { signers, feePayer: keys[0], blockhash, instructions } : undefined;
}
