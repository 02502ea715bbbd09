import { ed25519 } from '@noble/curves/ed25519.js';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { decodeTransaction } from '../../../localnet/wire/transaction.ts';
import type { Random } from '../../../testing/random.ts';
import { encodeDecoded, mutate, randomWire } from '../wireForms.ts';
import { pick } from './values.ts';

const SIGNATURE_BYTES = 64;

/** Who pays and signs, with what the ledger knows. */
export interface Signing {
  readonly payer: Keypair;
  readonly addresses: readonly string[];
  readonly blockhash: string;
}

/** A transaction that calls real programs with noise: the payer signs, where one signature is wanted. */
export function noisyTransaction(random: Random, signing: Signing): Uint8Array {
  const noise = decodeTransaction(randomWire(random));
  const keys = noise.keys.map((key, index) => {
    if (index === 0) return signing.payer.publicKey.toBytes();
    return random.below(10) === 0 ? key : bs58.decode(pick(random, signing.addresses));
  });
  const isAlone = random.below(4) > 0;
  const decoded = {
    ...noise,
    keys,
    recentBlockhash: bs58.decode(signing.blockhash),
    ...(isAlone && {
      header: { ...noise.header, numRequiredSignatures: 1, numReadonlySignedAccounts: 0 },
      signatures: noise.signatures.slice(0, 1),
    }),
  };
  return sign(encodeDecoded(decoded), signing.payer);
}

/** A signed transaction whose message was changed before it was signed anew, or not. */
export function mutatedTransaction(random: Random, signing: Signing): Uint8Array {
  const whole = noisyTransaction(random, signing);
  if (random.below(3) === 0) return mutate(random, whole);
  const offset = 1 + (whole[0] as number) * SIGNATURE_BYTES;
  const message = mutate(random, whole.subarray(offset));
  return sign(Buffer.concat([whole.subarray(0, offset), message]), signing.payer);
}

function sign(wire: Uint8Array, { secretKey }: Keypair): Uint8Array {
  const signed = Buffer.from(wire);
  const count = signed[0] ?? 0;
  const message = signed.subarray(1 + count * SIGNATURE_BYTES);
  if (count > 0) signed.set(ed25519.sign(message, secretKey.subarray(0, 32)), 1);
  return signed;
}
