import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { base58 } from '@scure/base';
import {
  Connection,
  Keypair,
  type PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import { connectPooledRpc } from '../../common/net/pooledRpc.ts';
import { type LocalnetOptions, startLocalnet } from '../../localnet/start.ts';
import { BLOCKHASH_MS } from '../../testing/ledger/ledger.ts';

export interface RpcAnswer {
  result?: unknown;
  error?: { code: number; message: string; data?: { err?: unknown } };
}

/** So long that slots pass only where a test skips them. */
export const HELD_SLOT_MS = 3_600_000;

/** 1,000 SOL. */
const PAYER_LAMPORTS = 1_000_000_000_000;

export type LocalnetScene = Awaited<ReturnType<typeof openLocalnet>>;

/** A local ledger in this process, with somebody who has lamports on it. */
export async function openLocalnet(options: LocalnetOptions = {}) {
  const localnet = await startLocalnet({
    isDevelopment: true,
    blockhashMs: BLOCKHASH_MS,
    ...options,
  });
  const connection = new Connection(localnet.rpcUrl, {
    commitment: 'confirmed',
    wsEndpoint: localnet.wsUrl,
  });
  const payer = Keypair.generate();

  /** A JSON-RPC call; the answer as it came. */
  async function call(method: string, ...params: unknown[]): Promise<RpcAnswer> {
    const response = await fetch(localnet.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return (await response.json()) as RpcAnswer;
  }

  /** The same. @throws Error with the ledger's words */
  async function ask<Result>(method: string, ...params: unknown[]): Promise<Result> {
    const { result, error } = await call(method, ...params);
    if (error) throw new Error(`${error.code} ${error.message}`);
    return result as Result;
  }

  async function latestBlockhash(): Promise<string> {
    const config = { commitment: 'confirmed' };
    const { value } = await ask<{ value: { blockhash: string } }>('getLatestBlockhash', config);
    return value.blockhash;
  }

  /** Signed by the payer. */
  async function sign(
    instructions: TransactionInstruction[],
    { blockhash, signers = [] }: { blockhash?: string; signers?: Keypair[] } = {},
  ) {
    const recent = blockhash ?? (await latestBlockhash());
    return signTransaction(instructions, [payer, ...signers], recent);
  }

  /** A transfer of so many lamports from the payer, confirmed. @returns its signature */
  async function transfer(toPubkey: PublicKey, lamports: number): Promise<string> {
    const { publicKey: fromPubkey } = payer;
    const { wire } = await sign([SystemProgram.transfer({ fromPubkey, toPubkey, lamports })]);
    return ask<string>('sendTransaction', wire.toString('base64'), { encoding: 'base64' });
  }

  if (options.isDevelopment !== false) {
    // A write without a transaction waits for the end of its slot.
    await ask('localnet_fund', payer.publicKey.toBase58(), PAYER_LAMPORTS);
  }
  const rpc = connectPooledRpc({ url: localnet.rpcUrl });
  return {
    ...localnet,
    ...{ connection, rpc, payer, call, ask, sign, transfer },
    async close(): Promise<void> {
      await hangUp(connection);
      await localnet.close();
    },
  };
}

/** @param signers the first one pays */
export function signTransaction(
  instructions: readonly TransactionInstruction[],
  signers: readonly [Keypair, ...Keypair[]],
  recentBlockhash: string,
): { wire: Buffer; signature: string } {
  const feePayer = signers[0].publicKey;
  const transaction = new Transaction({ feePayer, recentBlockhash }).add(...instructions);
  transaction.sign(...signers);
  const signature = base58.encode(transaction.signature as Buffer);
  return { wire: transaction.serialize(), signature };
}

/** Once it had a websocket, web3.js would try again and again to reach a ledger that is gone. */
async function hangUp(connection: Connection): Promise<void> {
  const inside = connection as unknown as {
    _rpcWebSocket: {
      ready: boolean;
      once(event: 'close', listener: () => void): void;
      close(): void;
    };
    _subscriptionsByHash: object;
  };
  const { _rpcWebSocket: socket } = inside;
  if (!socket.ready) return;
  // For what is left of them it would connect again.
  inside._subscriptionsByHash = {};
  const closed = new Promise<void>((resolve) => socket.once('close', resolve));
  socket.close();
  await closed;
}

const folders: string[] = [];

/** An empty folder; `removeFolders` takes it away. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-localnet-'));
  folders.push(folder);
  return folder;
}

export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
