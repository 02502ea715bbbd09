import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import type { Keypair } from '@solana/web3.js';
import {
  type DecodedTransaction,
  decodeTransaction,
  encodeMessage,
  encodeTransaction,
} from '../../../programs/client/wire/index.ts';
import type { Random } from '../../../testing/random.ts';
import { mutate, randomWire } from '../../client/wire/messages.ts';
import { pick } from './values.ts';

/** Who pays and signs, with what the ledger knows. */
export interface Signing {
  readonly payer: Keypair;
  readonly addresses: readonly string[];
  readonly blockhash: string;
}

/** A transaction that calls real programs with noise: the payer signs, where one signature is wanted. */
export function noisyTransaction(random: Random, signing: Signing): Uint8Array {
  const noise = decodeTransaction(randomWire(random));
  const payer = signing.payer.publicKey;
  const named = new Set([payer.toBase58()]);
  const keys = noise.keys.map((key, index) => {
    if (index === 0) return payer.toBytes();
    const address = pick(random, signing.addresses);
    // In version 1 no key stands twice.
    if (random.below(10) === 0 || (noise.version === 1 && named.has(address))) return key;
    named.add(address);
    return base58.decode(address);
  });
  const isAlone = random.below(4) > 0;
  const decoded = {
    ...noise,
    keys,
    recentBlockhash: base58.decode(signing.blockhash),
    ...(isAlone && {
      header: { ...noise.header, numRequiredSignatures: 1, numReadonlySignedAccounts: 0 },
      signatures: noise.signatures.slice(0, 1),
    }),
  };
  return signFirst(decoded, encodeMessage(decoded), decoded.signatures, signing.payer);
}

/** A signed transaction whose message was changed before it was signed again, or not. */
export function mutatedTransaction(random: Random, signing: Signing): Uint8Array {
  const whole = noisyTransaction(random, signing);
  if (random.below(3) === 0) return mutate(random, whole);
  const decoded = decodeTransaction(whole);
  const message = mutate(random, decoded.message);
  return signFirst(decoded, message, decoded.signatures, signing.payer);
}

function signFirst(
  version: Pick<DecodedTransaction, 'version'>,
  message: Uint8Array,
  signatures: readonly Uint8Array[],
  { secretKey }: Keypair,
): Uint8Array {
  const first = ed25519.sign(message, secretKey.subarray(0, 32));
  return encodeTransaction(version, message, [first, ...signatures.slice(1)]);
}
