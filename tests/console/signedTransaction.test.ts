import { describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
} from '@solana/web3.js';
import { signatureOf } from '../../console/ledger/signedTransaction.ts';

const wallet = Keypair.generate();
const other = Keypair.generate();
const pay = (lamports: number) =>
  SystemProgram.transfer({ fromPubkey: wallet.publicKey, toPubkey: other.publicKey, lamports });
const bytesOf = (transaction: Transaction) =>
  new Uint8Array(transaction.serialize({ verifySignatures: false, requireAllSignatures: false }));

/** What the page asks a wallet to sign. */
const asked = bytesOf(
  new Transaction({
    feePayer: wallet.publicKey,
    blockhash: Keypair.generate().publicKey.toBase58(),
    lastValidBlockHeight: 1,
  }).add(pay(1), pay(2)),
);

type Change = (transaction: Transaction) => void;

/** What a wallet returns that changes a transaction before it signs. */
function signedWith(change: Change, signers = [wallet]): Uint8Array {
  const transaction = Transaction.from(asked);
  change(transaction);
  transaction.sign(...signers);
  return bytesOf(transaction);
}
const judge = (signed: Uint8Array) => signatureOf(signed, asked, wallet.publicKey.toBase58());
const by = (programId: PublicKey) => new TransactionInstruction({ programId, keys: [] });

describe('what a wallet returns', () => {
  // The second is a guard of wallets, which can only make a transaction fail.
  it.each<[string, Change]>([
    ['as it was asked', () => {}],
    [
      'with a fee for priority and a guard',
      (transaction) => {
        transaction.instructions.unshift(
          ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 10 }),
        );
        transaction.add(by(new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95')));
      },
    ],
  ])('is taken %s', (_, change) => {
    const signed = signedWith(change);
    expect(judge(signed)).toBe(
      base58.encode(Transaction.from(signed).signature ?? new Uint8Array()),
    );
  });

  const ANOTHER = 'The wallet returned another transaction than this one.';
  it.each<[string, Change]>([
    ['another amount', ({ instructions }) => instructions.splice(1, 1, pay(3))],
    ['an instruction less', ({ instructions }) => instructions.pop()],
    ['an instruction twice', (transaction) => transaction.add(pay(2))],
    ['another order', ({ instructions }) => instructions.reverse()],
    ['another program’s instruction', (transaction) => transaction.add(by(PublicKey.default))],
    [
      'another blockhash',
      (transaction) => {
        transaction.recentBlockhash = PublicKey.default.toBase58();
      },
    ],
  ])('is refused with %s', (_, change) => {
    expect(() => judge(signedWith(change))).toThrow(ANOTHER);
  });

  it('is refused when another account pays or signs too', () => {
    const otherPays: Change = (transaction) => {
      transaction.feePayer = other.publicKey;
    };
    expect(() => judge(signedWith(otherPays, [other, wallet]))).toThrow('of other signers');
  });

  it('is refused unsigned, under another key, or where it is none', () => {
    const forged = signedWith(() => {});
    forged[1] = (forged[1] ?? 0) ^ 1;
    for (const signed of [asked, forged]) {
      expect(() => judge(signed)).toThrow('did not sign with the account that is signed in');
    }
    expect(() => judge(new Uint8Array(9))).toThrow(ANOTHER);
  });
});
