import { describe, expect, it } from '@jest/globals';
import { Keypair, PublicKey, TransactionInstruction, TransactionMessage } from '@solana/web3.js';
import { compileLegacyMessage } from '../../programs/client/sender/legacyMessage.ts';
import {
  signTransaction,
  TransactionTooLargeError,
} from '../../programs/client/sender/transaction.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();
const MESSAGES = 500;

describe(`a compiled message (seed ${random.seed})`, () => {
  it('equals that of web3.js, byte for byte, for any instructions', () => {
    for (let made = 0; made < MESSAGES; made += 1) {
      const keys = Array.from(
        { length: 1 + random.below(20) },
        () => new PublicKey(random.bytes(32)),
      );
      const pick = () => keys[random.below(keys.length)] as PublicKey;
      const instructions = Array.from({ length: 1 + random.below(6) }, () => {
        const accounts = Array.from({ length: random.below(10) }, () => ({
          pubkey: new PublicKey(pick().toBytes()),
          isSigner: random.below(5) === 0,
          isWritable: random.below(2) === 0,
        }));
        const data = Buffer.from(random.bytes(random.below(100)));
        return new TransactionInstruction({ programId: pick(), keys: accounts, data });
      });
      const payerKey = pick();
      const blockhash = new PublicKey(random.bytes(32));
      const theirs = new TransactionMessage({
        payerKey,
        instructions,
        recentBlockhash: blockhash.toBase58(),
      }).compileToLegacyMessage();
      const ours = compileLegacyMessage({
        feePayer: payerKey,
        instructions,
        blockhash: blockhash.toBytes(),
      });
      // web3.js writes into a packet's size, and fails beyond it.
      if (ours.bytes.length <= 1_232) {
        expect(Buffer.from(ours.bytes).toString('hex')).toBe(
          Buffer.from(theirs.serialize()).toString('hex'),
        );
      }
      expect(ours.signers.map(String)).toEqual(
        theirs.accountKeys.slice(0, theirs.header.numRequiredSignatures).map(String),
      );
    }
  });

  it('is refused when it does not fit into a packet', async () => {
    const feePayer = Keypair.generate();
    const data = Buffer.alloc(1_200);
    const instruction = new TransactionInstruction({
      programId: PublicKey.default,
      keys: [],
      data,
    });
    const make = () =>
      signTransaction({
        feePayer,
        signers: [],
        lookup: undefined,
        instructions: [instruction],
        blockhash: PublicKey.default.toBase58(),
      });
    await expect(make()).rejects.toThrow(TransactionTooLargeError);
  });
});
