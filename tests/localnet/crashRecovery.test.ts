import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  type PublicKey,
  SystemProgram,
} from '@solana/web3.js';
import { LAMPORTS_PER_SIGNATURE } from '../../localnet/bank/fees.ts';
import { findFreePort } from '../../stack/port.ts';
import { type StartedProcess, startProcess } from '../../testing/childProcess.ts';
import { callLedger } from '../../testing/ledger/ledger.ts';
import { createRandom } from '../../testing/random.ts';
import { until } from '../../testing/until.ts';
import { newFolder, removeFolders, signTransaction } from './scene.ts';

/** LOCALNET_KILLS=200 for a long run. */
const KILLS = Number(process.env.LOCALNET_KILLS ?? 5);
const SENDERS = 8;
/** A ledger is killed after so many more promises. */
const PROMISES_MAX = 100;

let ledger: StartedProcess | undefined;
afterEach(() => ledger?.kill());
afterAll(removeFolders);

/** What the ledger confirmed to a sender: it has this transfer, for ever. */
interface Promised {
  signature: string;
  to: PublicKey;
  lamports: number;
}

/** Sends one transfer after the other until the ledger is gone, and notes what it promised. */
async function sendUntilGone(options: {
  rpcUrl: string;
  payer: Keypair;
  sender: number;
  promised: Promised[];
}): Promise<void> {
  const { rpcUrl, payer, sender, promised } = options;
  for (let sent = 0; ; sent += 1) {
    const to = Keypair.generate().publicKey;
    const lamports = LAMPORTS_PER_SOL / 100 + sender * 1_000 + sent;
    try {
      const { value } = await callLedger<{ value: { blockhash: string } }>(
        rpcUrl,
        'getLatestBlockhash',
        [{ commitment: 'confirmed' }],
      );
      const transfer = { fromPubkey: payer.publicKey, toPubkey: to, lamports };
      const { wire } = signTransaction(
        [SystemProgram.transfer(transfer)],
        [payer],
        value.blockhash,
      );
      const signature = await callLedger<string>(rpcUrl, 'sendTransaction', [
        wire.toString('base64'),
        { encoding: 'base64', preflightCommitment: 'confirmed' },
      ]);
      const { value: statuses } = await callLedger<{ value: ({ err: unknown } | null)[] }>(
        rpcUrl,
        'getSignatureStatuses',
        [[signature]],
      );
      if (statuses[0]?.err === null) promised.push({ signature, to, lamports });
    } catch {
      // Killed while it was asked: it promised nothing.
      return;
    }
  }
}

async function expectKept(connection: Connection, promised: readonly Promised[]): Promise<void> {
  for (let from = 0; from < promised.length; from += 100) {
    const part = promised.slice(from, from + 100);
    const accounts = await connection.getMultipleAccountsInfo(part.map(({ to }) => to));
    expect(accounts.map((account) => account?.lamports)).toEqual(
      part.map(({ lamports }) => lamports),
    );
    const { value } = await connection.getSignatureStatuses(
      part.map(({ signature }) => signature),
      { searchTransactionHistory: true },
    );
    expect(value.map((status) => status?.err)).toEqual(part.map(() => null));
  }
}

interface Books {
  /** All lamports that there are. */
  lamports: bigint;
  transactions: number;
}

/** By all that was moved, only fees are gone: one signature's for each transaction that is kept. */
async function readBooks(rpcUrl: string): Promise<Books> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSupply', params: [] }),
  });
  // More than a double holds: read from the text.
  const [, total = ''] = /"total":(\d+)/.exec(await response.text()) ?? [];
  return {
    lamports: BigInt(total),
    transactions: await callLedger<number>(rpcUrl, 'getTransactionCount', []),
  };
}

const random = createRandom();

describe(`a ledger that is killed at random moments under load (seed ${random.seed})`, () => {
  it(
    `restores everything that it had confirmed, ${KILLS} times`,
    async () => {
      const folder = newFolder();
      const payer = Keypair.generate();
      const promised: Promised[] = [];
      let slot = 0;
      // Where it comes back each time: no port that the system gives to another process by then.
      const settings = {
        LOCALNET_PAYER_KEY: base58.encode(payer.secretKey),
        LOCALNET_DATA_DIR: folder,
        LOCALNET_PORT: String(await findFreePort()),
      };
      let booksBefore: Books | undefined;
      for (let kill = 1; kill <= KILLS; kill += 1) {
        ledger = await startProcess('localnet/main.ts', settings);
        const { url: rpcUrl } = ledger;
        const connection = new Connection(rpcUrl, 'confirmed');
        booksBefore ??= await readBooks(rpcUrl);
        // A slot that was reported before never comes again.
        const slotNow = await connection.getSlot('processed');
        expect(slotNow).toBeGreaterThan(slot);
        await expectKept(connection, promised.slice(-500));
        const sending = Array.from({ length: SENDERS }, (_, sender) =>
          sendUntilGone({ rpcUrl, payer, sender: kill * SENDERS + sender, promised }),
        );
        const due = promised.length + 1 + random.below(PROMISES_MAX);
        await until(async () => promised.length >= due);
        slot = await connection.getSlot('confirmed');
        await ledger.kill();
        await Promise.all(sending);
      }
      ledger = await startProcess('localnet/main.ts', settings);
      await expectKept(new Connection(ledger.url, 'confirmed'), promised);
      const books = await readBooks(ledger.url);
      const { lamports = 0n, transactions = 0 } = booksBefore ?? {};
      const feesPaid = BigInt(books.transactions - transactions) * LAMPORTS_PER_SIGNATURE;
      expect(lamports - books.lamports).toBe(feesPaid);
      process.stderr.write(`${KILLS} kills, ${promised.length} confirmed transfers kept\n`);
    },
    60_000 + KILLS * 5_000,
  );
});
