import { type Connection, Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { fetchConfig } from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { BASE_UNITS_PER_CREDIT } from '../../programs/client/generated/constants.ts';
import { creditBuy } from '../../programs/client/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { callLedger } from '../../testing/ledger/ledger.ts';

/** Buys credits for a wallet on a local ledger, with newly minted tokens. */
export async function buyCredits(
  connection: Connection,
  { wallet, credits }: { wallet: string; credits: bigint },
): Promise<void> {
  const { rpcEndpoint } = connection;
  const config = await fetchConfig(connection, createAddresses().config, {
    commitment: 'confirmed',
  });
  if (!config) throw new Error('the program is not initialized');
  const authority = Keypair.generate();
  const buyer = authority.publicKey;
  await callLedger(rpcEndpoint, 'localnet_fund', [buyer.toBase58(), LAMPORTS_PER_SOL]);
  const tokens = await callLedger<string>(rpcEndpoint, 'localnet_mintTokens', [
    config.creditMint.toBase58(),
    buyer.toBase58(),
    Number(credits * BASE_UNITS_PER_CREDIT),
  ]);
  const buy = creditBuy({
    buyer,
    credits,
    buyerTokenAccount: new PublicKey(tokens),
    wallet: new PublicKey(wallet),
  });
  await submit({ connection, authority }, [buy]);
}
