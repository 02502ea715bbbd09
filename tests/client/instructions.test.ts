import { describe, expect, it } from '@jest/globals';
import { Keypair, PublicKey } from '@solana/web3.js';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { decodeArguments } from '../../programs/client/codec.ts';
import { evidenceArguments, verdictInstruction } from '../../programs/client/instructions.ts';
import {
  proofMessage,
  receiptMessage,
  type SignedMessage,
  signHashed,
} from '../../programs/client/proof.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();
const key = () => new PublicKey(random.bytes(32));
const keypair = Keypair.fromSeed(random.bytes(32));
const [job, worker] = [key(), key()];

function signed(message: Uint8Array): SignedMessage {
  return { publicKey: keypair.publicKey, message, signature: signHashed(message, keypair) };
}

const outputOf = () => ({
  outputHash: random.bytes(32),
  promptTokens: random.below(2 ** 32),
  completionTokens: random.below(2 ** 32),
  statement: random.bytes(32),
});
const proofOf = (output: ReturnType<typeof outputOf>) =>
  signed(proofMessage({ programId: PROGRAM_ID, job, worker, attempt: 2, ...output }));

const [recorded, other] = [outputOf(), outputOf()];
const [recordedProof, otherProof] = [proofOf(recorded), proofOf(other)];
const receipt = signed(receiptMessage({ programId: PROGRAM_ID, job, ...other }));

const NOTHING = {
  key: PublicKey.default,
  recordedStatement: new Uint8Array(32),
  recordedSignature: new Uint8Array(64),
  outputHash: new Uint8Array(32),
  promptTokens: 0,
  completionTokens: 0,
  statement: new Uint8Array(32),
  signature: new Uint8Array(64),
};

const UPHELD_WORKER = {
  key: keypair.publicKey,
  recordedStatement: recorded.statement,
  recordedSignature: recordedProof.signature,
  ...other,
  signature: otherProof.signature,
};
const UPHELD_GATEWAY = {
  ...NOTHING,
  key: keypair.publicKey,
  outputHash: other.outputHash,
  statement: other.statement,
  signature: receipt.signature,
};
const OF_OTHER_STATEMENT = {
  ...UPHELD_GATEWAY,
  recordedStatement: recorded.statement,
  recordedSignature: recordedProof.signature,
};

describe(`the evidence of a verdict (seed ${random.seed})`, () => {
  it('is refused in any other form', () => {
    const text = signed(random.bytes(181));
    for (const wrong of [
      [recordedProof],
      [text],
      [recordedProof, receipt],
      [receipt, receipt],
      [receipt, recordedProof, otherProof],
      [text, otherProof],
      [recordedProof, text],
      [recordedProof, otherProof, otherProof],
    ]) {
      expect(() => evidenceArguments(wrong)).toThrow('neither two proofs');
    }
  });

  it('travels in the verdict’s own instruction', () => {
    const parties = { arbiter: key(), job, creditAccount: key(), worker };
    for (const [verdict, evidence, args] of [
      ['upheld_worker', [recordedProof, otherProof], UPHELD_WORKER],
      ['upheld_gateway', [receipt], UPHELD_GATEWAY],
      ['upheld_gateway', [receipt, recordedProof], OF_OTHER_STATEMENT],
      ['rejected', [], NOTHING],
    ] as const) {
      const { data, keys, programId } = verdictInstruction(evidence, { ...parties, verdict });
      expect(programId).toEqual(PROGRAM_ID);
      expect(decodeArguments('dispute_resolve', data)).toEqual({ verdict, ...args });
      expect(keys.filter(({ isSigner }) => isSigner).map(({ pubkey }) => pubkey)).toEqual([
        parties.arbiter,
      ]);
    }
  });
});
