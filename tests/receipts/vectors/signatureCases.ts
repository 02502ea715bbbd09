import { PublicKey } from '@solana/web3.js';
import { toBase58 } from '../../../programs/client/keys.ts';
import { bytesToHex } from '../../../programs/client/platform/bytes.ts';
import { sha256 } from '../../../programs/client/platform/crypto.node.ts';
import type { Random } from '../../../testing/random.ts';
import { createKinds } from '../../programs/support/signatures/kinds.ts';
import { createSigners } from '../../programs/support/signatures/signers.ts';
import type { AnyUnitCase } from './cases.ts';
import { drawProof, messageOfProof } from './messageCases.ts';

/** What the program accepts, of all kinds that somebody can make. */
const ACCEPTED: readonly string[] = [
  'honest',
  'by a key of RFC 8032',
  'by a mixed key whose small part vanishes',
  'with a mixed R that a mixed key cancels',
];
/** Of the kinds with many, such as one for each byte. */
const VARIANTS_MAX = 6;

/** Signatures of proofs, a few of each kind, and whether the program takes them. */
export function signatureCases(random: Random): AnyUnitCase[] {
  const proof = drawProof(random);
  const messageOf = (commitment: Uint8Array) =>
    messageOfProof({ ...proof, request_commitment: bytesToHex(commitment) });
  const kinds = createKinds(createSigners(random, (commitment) => sha256(messageOf(commitment))));
  return Object.entries(kinds).flatMap(([name, { variants, make }]) => {
    const count = Math.min(variants, VARIANTS_MAX);
    const first = random.below(variants);
    return Array.from({ length: count }, (_, at): AnyUnitCase => {
      const { key, commitment, signature } = make((first + at) % variants);
      return {
        kind: 'signature',
        name: count > 1 ? `${name}, ${at + 1}` : name,
        input: {
          public_key: toBase58(new PublicKey(key)),
          message: bytesToHex(messageOf(commitment)),
          signature: bytesToHex(signature),
        },
        expected: { holds: ACCEPTED.includes(name) },
      };
    });
  });
}
