import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Keypair,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { createLogger } from '../../common/logger.ts';
import {
  createSender,
  type Sender,
  type Signer,
  type WalletSigner,
} from '../../programs/client/sender/index.ts';
import { LONG_BLOCKHASH_MS, startLedger, type TestLedger } from '../../testing/ledger/ledger.ts';

const logger = createLogger({ name: 'test', level: 'silent' });
const person = Keypair.generate();
const other = Keypair.generate();
const senders: Sender[] = [];
let ledger: TestLedger;

beforeAll(async () => {
  ledger = await startLedger({ blockhashMs: LONG_BLOCKHASH_MS });
  for (const { publicKey } of [person, other]) await ledger.fundLamports(publicKey, 1e12);
});

afterAll(async () => {
  for (const sender of senders) sender.close();
  await ledger.close();
});

/** What a browser's wallet gives a page: the key stays in it. */
function walletOf(keypair: Keypair): WalletSigner {
  return {
    publicKey: keypair.publicKey,
    async signTransaction(transaction) {
      transaction.sign([keypair]);
      return transaction;
    },
  };
}

function pay(from: Signer): TransactionInstruction {
  const [fromPubkey, toPubkey] = [from.publicKey, Keypair.generate().publicKey];
  return SystemProgram.transfer({ fromPubkey, toPubkey, lamports: 1_000_000 });
}

function send(feePayer: Signer, signers: readonly Signer[] = []) {
  const sender = createSender({
    rpc: ledger.rpc,
    feePayers: [feePayer],
    commitment: 'confirmed',
    logger,
  });
  senders.push(sender);
  const instructions = [feePayer, ...signers].map(pay);
  return sender.send({ instructions, signers, computeUnitLimit: 5_000 });
}

describe('a wallet as signer', () => {
  it('pays for a transaction and signs it', async () => {
    expect(await send(walletOf(person))).toMatchObject({ status: 'landed' });
  });

  it('signs beside a keypair, whichever of them pays', async () => {
    expect(await send(person, [walletOf(other)])).toMatchObject({ status: 'landed' });
    expect(await send(walletOf(other), [person])).toMatchObject({ status: 'landed' });
  });

  it('ends the sending with its own error when its owner declines', async () => {
    const declines: WalletSigner = {
      publicKey: person.publicKey,
      signTransaction: () => Promise.reject(new Error('User rejected the request.')),
    };
    await expect(send(declines)).rejects.toThrow('User rejected the request.');
  });

  it('is refused by its key when it changes the transaction', async () => {
    const changes: WalletSigner = {
      publicKey: person.publicKey,
      async signTransaction({ message }) {
        const changed = new TransactionMessage({
          payerKey: person.publicKey,
          recentBlockhash: message.recentBlockhash,
          instructions: [pay(person), pay(person)],
        });
        const transaction = new VersionedTransaction(changed.compileToLegacyMessage());
        transaction.sign([person]);
        return transaction;
      },
    };
    const message = `The wallet ${person.publicKey} changed the transaction`;
    await expect(send(changes)).rejects.toThrow(message);
  });

  it('is refused by its key when it returns the transaction unsigned', async () => {
    const forgets: WalletSigner = {
      publicKey: person.publicKey,
      signTransaction: (transaction) => Promise.resolve(transaction),
    };
    const message = `The wallet ${person.publicKey} did not sign the transaction`;
    await expect(send(forgets)).rejects.toThrow(message);
  });
});
