import { type Connection, Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { connectPooledRpc } from '../../common/net/pooledRpc.ts';
import { delay } from '../../common/wait.ts';
import { fetchAllJobs, fetchConfig } from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { BASE_UNITS_PER_CREDIT } from '../../programs/client/generated/constants.ts';
import { creditBuy } from '../../programs/client/instructions.ts';
import { connectLedger } from '../../programs/client/verify/connection/connectLedger.ts';
import { submit } from '../../stack/operator.ts';
import { callLedger, readClockSeconds, setClockSeconds } from '../../testing/ledger/ledger.ts';

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

/** Longer than the timeout of two minutes and the dispute window of one. */
const AHEAD_SECONDS = 200n;
const WAIT_MS_MAX = 300_000;
const POLL_MS = 250;

/** Advances the local ledger's clock until every job may be closed, and waits for the keeper. */
export async function closeJobs(connection: Connection): Promise<void> {
  await setClockSeconds(connection, (await readClockSeconds(connection)) + AHEAD_SECONDS);
  const deadline = performance.now() + WAIT_MS_MAX;
  while ((await fetchAllJobs(connection, { commitment: 'confirmed' })).length > 0) {
    if (performance.now() > deadline) throw new Error('The keeper does not close the jobs');
    await delay(POLL_MS);
  }
}
