import type { PublicKey } from '@solana/web3.js';
import { createCast } from '../../testing/kit/cast.ts';
import { startLiteSvm } from '../../testing/kit/litesvm.ts';
import { DEFAULT_SETTINGS } from '../../testing/kit/setUp.ts';
import { configInitialize, createAddresses, creditOpen, decodeAccount } from '../client/index.ts';

/**
 * Runs a build of the escrow for clusters at an address of its own, in LiteSVM. The program creates
 * every fixed account there, signs for them and for its events, and opens a wallet's account.
 *
 * @throws Refusal when the build was not made for that address
 */
export async function tryOut(artifact: Uint8Array, programId: PublicKey): Promise<void> {
  const { chain, authority, arbiter, creditMint, stakeMint, wallets } = await createCast(
    await startLiteSvm({ programId, elf: artifact }),
    { wallets: 1, workers: 1 },
  );
  const initialize = configInitialize({
    programId,
    authority: authority.publicKey,
    arbiter: arbiter.publicKey,
    creditMint,
    stakeMint,
    ...DEFAULT_SETTINGS,
  });
  await chain.send([initialize], [authority]);

  const [{ keypair }] = wallets;
  const wallet = keypair.publicKey;
  await chain.send([creditOpen({ programId, payer: wallet, wallet })], [keypair]);
  const opened = await chain.account(createAddresses(programId).creditAccount(wallet));
  if (opened === null || decodeAccount(opened.data).name !== 'CreditAccount') {
    throw new Error(`${programId} says it opened a credit account, but there is none`);
  }
}
