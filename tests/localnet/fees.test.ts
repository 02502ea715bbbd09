import { describe, expect, it } from '@jest/globals';
import {
  ComputeBudgetProgram,
  Ed25519Program,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
} from '@solana/web3.js';
import { feeOf } from '../../localnet/bank/fees.ts';
import { createRuntime, RENT_EPOCH_NEVER } from '../../localnet/runtime/runtime.ts';
import { decodeTransaction } from '../../programs/client/wire/index.ts';
import { createRandom } from '../../testing/random.ts';
import { PROGRAMS, pick } from './fuzz/values.ts';

const CASES = 300;
const PAYER_LAMPORTS = 10n ** 18n;

const random = createRandom();
const runtime = createRuntime();
const payer = Keypair.generate();
const others = Array.from({ length: 3 }, () => Keypair.generate());

/** @param kinds of the first two each is executed */
function randomInstruction(kinds: number): TransactionInstruction {
  const signer = pick(random, others);
  const keys = [{ pubkey: signer.publicKey, isSigner: random.below(2) === 0, isWritable: false }];
  switch (random.below(kinds)) {
    case 0:
      return Ed25519Program.createInstructionWithPrivateKey({
        privateKey: signer.secretKey,
        message: Buffer.from('signed'),
      });
    case 1:
      return SystemProgram.transfer({
        fromPubkey: payer.publicKey,
        toPubkey: payer.publicKey,
        lamports: random.below(1_000),
      });
    default: {
      const programId = new PublicKey(pick(random, PROGRAMS));
      return new TransactionInstruction({
        programId,
        keys,
        // A precompile counts by its first byte, with anything behind it.
        data: Buffer.from([random.below(4), ...random.bytes(random.below(12))]),
      });
    }
  }
}

/** Each kind once at most: two of a kind cost nothing, since the transaction is refused. */
function budget(): TransactionInstruction[] {
  const limit = pick(random, [0, 1, 150, 200_000, 1_400_000, 3_000_000_000]);
  const microLamports = pick(random, [0, 1, 999_999, 1_000_001, 2 ** 40]);
  return [
    ComputeBudgetProgram.setComputeUnitLimit({ units: limit }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
    ComputeBudgetProgram.requestHeapFrame({ bytes: 32 * 1_024 }),
  ].filter(() => random.below(2) === 0);
}

/** @param isExecuted for certain, or what is drawn decides */
function randomTransaction(isExecuted: boolean): Buffer {
  const instructions = [
    ...(isExecuted ? [] : budget()),
    ...Array.from({ length: 1 + random.below(4) }, () => randomInstruction(isExecuted ? 2 : 5)),
  ].sort(() => random.below(3) - 1);
  const transaction = new Transaction().add(...instructions);
  transaction.feePayer = payer.publicKey;
  transaction.recentBlockhash = payer.publicKey.toBase58();
  const wanted = transaction.compileMessage().header.numRequiredSignatures;
  const signers = transaction.compileMessage().accountKeys.slice(0, wanted);
  transaction.sign(
    ...[payer, ...others].filter(({ publicKey }) => signers.some((key) => key.equals(publicKey))),
  );
  return transaction.serialize();
}

/** What the runtime itself takes from the payer, and why the transaction failed if it did. */
function charge(wire: Buffer) {
  const address = payer.publicKey.toBytes();
  runtime.setAccount(address, {
    lamports: PAYER_LAMPORTS,
    data: new Uint8Array(),
    owner: new Uint8Array(32),
    executable: false,
    rentEpoch: RENT_EPOCH_NEVER,
  });
  const { err } = runtime.execute(wire, true);
  return { charged: PAYER_LAMPORTS - runtime.lamports(address), err };
}

describe(`the computed fee (seed ${random.seed})`, () => {
  it('equals what the runtime charges, for any transaction, successful or not', () => {
    let failed = 0;
    let refused = 0;
    for (let count = 0; count < CASES; count += 1) {
      const wire = randomTransaction(count % 10 === 0);
      const { charged, err } = charge(wire);
      if (typeof err === 'string') {
        refused += 1;
        continue;
      }
      if (err !== null) failed += 1;
      const computed = { fee: feeOf(decodeTransaction(wire)), wire: wire.toString('base64') };
      expect(computed).toEqual({ fee: charged, wire: wire.toString('base64') });
    }
    expect(failed).toBeGreaterThan(CASES / 10);
    expect(CASES - failed - refused).toBeGreaterThan(CASES / 20);
  });

  it('is limited to 64 bits', () => {
    const transaction = new Transaction().add(
      ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 2n ** 64n - 1n }),
    );
    transaction.feePayer = payer.publicKey;
    transaction.recentBlockhash = payer.publicKey.toBase58();
    transaction.sign(payer);
    expect(feeOf(decodeTransaction(transaction.serialize()))).toBe(2n ** 64n - 1n);
  });
});
