import { PublicKey } from '@solana/web3.js';
import { toBase58 } from '../../../programs/client/keys.ts';
import { bytesToHex, concatBytes } from '../../../programs/client/platform/bytes.ts';
import { sha256 } from '../../../programs/client/platform/node.ts';
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
const VARIANTS_MAX = 2;
/** With each encoding of a point of small order, of which some have a y of p or more. */
const OF_EACH_ENCODING: readonly string[] = [
  'by a key of small order',
  'with an R of small order',
  'with a key and an R of small order',
];

/** Signatures of proofs, a few of each kind, and whether the program takes them. */
export function signatureCases(random: Random): AnyUnitCase[] {
  const proof = drawProof(random);
  const messageOf = (commitment: Uint8Array) =>
    messageOfProof({ ...proof, statement: bytesToHex(commitment) });
  const signers = createSigners(random, (commitment) => sha256(messageOf(commitment)));
  const { signature, ...honest } = signers.honest();
  const kinds = {
    ...createKinds(signers),
    'a byte short': { variants: 1, make: () => ({ ...honest, signature: signature.slice(0, -1) }) },
    'a byte long': {
      variants: 1,
      make: () => ({ ...honest, signature: concatBytes(signature, Uint8Array.of(0)) }),
    },
  };
  return Object.entries(kinds).flatMap(([name, { variants, make }]) => {
    const count = OF_EACH_ENCODING.includes(name) ? variants : Math.min(variants, VARIANTS_MAX);
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
