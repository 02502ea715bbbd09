import { base58 } from '@scure/base';
import { Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js';
import { decodeTransaction } from '../../programs/client/wire/index.ts';
import { RENT_EPOCH_NEVER } from '../runtime/runtime.ts';
import type { Bank } from './bank.ts';

export type Faucet = Awaited<ReturnType<typeof openFaucet>>;

/** The ledger refused an airdrop, for example to a program's account. */
export class AirdropError extends Error {
  override name = 'AirdropError';
}

/** Half the supply of a cluster, and far below the limit of 64 bits. */
const FAUCET_LAMPORTS = 250_000_000n * 1_000_000_000n;

/**
 * Airdrops lamports by ordinary transactions.
 *
 * @param seed the ledger's seed, so that the faucet has the same key at each start
 */
export async function openFaucet(bank: Bank, seed: Uint8Array) {
  const keypair = Keypair.fromSeed(seed);
  const address = keypair.publicKey.toBytes();
  let airdrops = 0;
  if (bank.runtime.account(address) === null) {
    const owner = SystemProgram.programId.toBytes();
    const account = { data: new Uint8Array(), owner, executable: false };
    await bank.writeAccounts([
      [address, { ...account, lamports: FAUCET_LAMPORTS, rentEpoch: RENT_EPOCH_NEVER }],
    ]);
  }

  return {
    address,
    /** @returns the transfer's signature @throws AirdropError when the ledger refuses it */
    async airdrop(to: Uint8Array, lamports: bigint): Promise<string> {
      airdrops += 1;
      const transaction = new Transaction().add(
        SystemProgram.transfer({
          fromPubkey: keypair.publicKey,
          toPubkey: new PublicKey(to),
          lamports,
        }),
        // Makes two airdrops of the same amount two transactions.
        SystemProgram.transfer({
          fromPubkey: keypair.publicKey,
          toPubkey: keypair.publicKey,
          lamports: airdrops,
        }),
      );
      transaction.feePayer = keypair.publicKey;
      transaction.recentBlockhash = bank.blockhashes.textAt(bank.slot('confirmed'));
      transaction.sign(keypair);
      const submission = await bank.submit(decodeTransaction(transaction.serialize()), true);
      if ('execution' in submission) {
        throw new AirdropError(`The airdrop failed: ${JSON.stringify(submission.execution.err)}`);
      }
      return base58.encode(transaction.signature as Uint8Array);
    },
  };
}
