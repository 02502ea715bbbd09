import { Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { connectPooledRpc } from '../../common/net/pooledRpc.ts';
import { fetchConfig } from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { BASE_UNITS_PER_CREDIT } from '../../programs/client/generated/constants.ts';
import { creditBuy } from '../../programs/client/instructions.ts';
import { connectLedger } from '../../programs/client/verify/connection/connectLedger.ts';
import { submit } from '../../stack/operator.ts';
import { callLedger } from '../../testing/ledger/ledger.ts';

/** Buys credits for a wallet on a local ledger, with newly minted tokens. */
export async function buyCredits(
  rpcUrl: string,
  { wallet, credits }: { wallet: string; credits: bigint },
): Promise<void> {
  const rpc = connectPooledRpc({ url: rpcUrl });
  const config = await fetchConfig(connectLedger(rpc), createAddresses().config);
  if (!config) throw new Error('the program is not initialized');
  const authority = Keypair.generate();
  const buyer = authority.publicKey;
  await callLedger(rpcUrl, 'localnet_fund', [buyer.toBase58(), LAMPORTS_PER_SOL]);
  const tokens = await callLedger<string>(rpcUrl, 'localnet_mintTokens', [
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
  await submit({ rpc, authority }, [buy]);
}
