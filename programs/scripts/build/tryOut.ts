import { PublicKey } from '@solana/web3.js';
import { startBankrun } from '../../../testing/bankrun.ts';
import { createCast } from '../../../testing/cast.ts';
import { DEFAULT_SETTINGS } from '../../../testing/setUp.ts';
import {
  configInitialize,
  createAddresses,
  creditOpen,
  decodeAccount,
} from '../../client/index.ts';

const FINAL_LOADER = new PublicKey('BPFLoader2111111111111111111111111111111111');
const LAMPORTS = 1_000_000_000_000;

/**
 * Runs a build of the escrow at another address than the published one, in solana-bankrun: it
 * creates every fixed account there, signs for them and for its events, and opens a wallet's.
 *
 * @throws Refusal when the build was not made for that address
 */
export async function tryOut(artifact: Uint8Array, programId: PublicKey): Promise<void> {
  const { chain, authority, arbiter, creditMint, stakeMint, wallets } = createCast(
    await startBankrun(),
    { wallets: 1, workers: 1 },
  );
  const program = { lamports: LAMPORTS, data: artifact, owner: FINAL_LOADER, executable: true };
  chain.setAccount(programId, program);
  const initialize = configInitialize({
    programId,
    authority: authority.publicKey,
    arbiter: arbiter.publicKey,
    creditMint,
    stakeMint,
    programData: programId,
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
