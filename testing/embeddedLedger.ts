import { AccountLayout } from '@solana/spl-token';
import {
  type AccountInfo,
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
} from '@solana/web3.js';
import { withEscrow } from '../localnet/escrow.ts';
import { startLocalnet } from '../localnet/start.ts';
import { type DecodedEvent, decodeEvents, PROGRAM_ID } from '../programs/client/index.ts';

import { type Chain, nameFailure, Refusal } from './chain.ts';
import { readClockSeconds, setClockSeconds, writeAccount } from './ledgerCall.ts';
import { mintAccount, tokenAccount } from './tokenAccounts.ts';

const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');
const LAMPORTS_PER_SIGNER = 10_000_000_000;

/** Asks until there is an answer. The ledger confirms within a slot or two, of 20 ms each. */
async function poll<Answer>(ask: () => Promise<Answer | null>): Promise<Answer> {
  for (let round = 0; round < 500; round += 1) {
    const answer = await ask();
    if (answer !== null) return answer;
  }
  throw new Error('the ledger did not confirm a transaction it took');
}

/**
 * Starts an embedded ledger with the program as real clusters run it. Slower than solana-bankrun,
 * and its Clock runs by itself and can only be moved ahead; but it checks ed25519 signatures, tells
 * events, and has a JSON-RPC address for other clients.
 *
 * @throws Error where no build of the ledger exists for this platform
 */
export async function startEmbeddedLedger(): Promise<Chain> {
  const payer = Keypair.generate();
  const ledger = await startLocalnet({
    ...withEscrow({ payer: payer.publicKey }),
    isDevelopment: true,
  });
  const connection = new Connection(ledger.rpcUrl, {
    wsEndpoint: ledger.wsUrl,
    commitment: 'confirmed',
  });
  const [programData] = PublicKey.findProgramAddressSync(
    [PROGRAM_ID.toBytes()],
    UPGRADEABLE_LOADER,
  );
  /** Writes are ordered before whatever is sent or read next. */
  let writes: Promise<unknown> = Promise.resolve();
  let lastEvents: DecodedEvent[] = [];
  let nonce = 0;

  const setAccount = (address: PublicKey, account: AccountInfo<Uint8Array>): void => {
    const { lamports, data, owner, executable } = account;
    writes = writes.then(() =>
      writeAccount(connection.rpcEndpoint, address, { lamports, data, owner, executable }),
    );
  };
  const account = async (address: PublicKey): Promise<AccountInfo<Uint8Array> | null> => {
    await writes;
    return connection.getAccountInfo(address);
  };

  return {
    payer,
    authority: payer,
    programData,
    account,
    setAccount,
    close: () => ledger.close(),
    now: () => readClockSeconds(connection),
    setTime: (unixSeconds) => setClockSeconds(connection, unixSeconds),

    async send(instructions, signers = []) {
      await writes;
      // The ledger knows a transaction again; a transfer of another amount makes each its own.
      nonce += 1;
      const transaction = new Transaction().add(
        ...instructions,
        SystemProgram.transfer({
          fromPubkey: payer.publicKey,
          toPubkey: payer.publicKey,
          lamports: nonce,
        }),
      );
      transaction.feePayer = payer.publicKey;
      transaction.recentBlockhash = (await connection.getLatestBlockhash()).blockhash;
      transaction.sign(payer, ...signers);
      const signature = await connection
        .sendRawTransaction(transaction.serialize())
        .catch((error: Error) => {
          throw new Refusal(nameFailure(error.message));
        });
      const executed = await poll(() =>
        connection.getTransaction(signature, {
          commitment: 'confirmed',
          maxSupportedTransactionVersion: 0,
        }),
      );
      if (executed.meta === null) throw new Error(`the ledger says nothing of ${signature}`);
      lastEvents = decodeEvents(executed);
      return executed.meta.computeUnitsConsumed ?? 0;
    },

    lastEvents: () => lastEvents,

    fund: (address) =>
      setAccount(address, {
        lamports: LAMPORTS_PER_SIGNER,
        data: new Uint8Array(),
        owner: SystemProgram.programId,
        executable: false,
      }),
    setMint: (mint, decimals) => setAccount(mint, mintAccount(decimals)),
    setToken: (address, holding) => setAccount(address, tokenAccount(holding)),

    async tokens(address) {
      const found = await account(address);
      if (found === null) throw new Error(`${address} is no token account`);
      return AccountLayout.decode(found.data).amount;
    },
  };
}
