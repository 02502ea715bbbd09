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
import { type Localnet, type LocalnetOptions, startLocalnet } from '../../localnet/start.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { BLOCKHASH_MS } from '../../testing/ledger/ledger.ts';

/** A local ledger in this process, with somebody who has lamports on it. */
export interface LocalnetScene extends Localnet {
  connection: Connection;
  rpc: Rpc;
  /** Has 1,000 SOL. */
  payer: Keypair;
  /** A JSON-RPC call; the answer as it came. */
  call(method: string, ...params: unknown[]): Promise<RpcAnswer>;
  /** The same; @throws Error with the ledger's words */
  ask<Result>(method: string, ...params: unknown[]): Promise<Result>;
  /** Signed by the payer, base64, and its signature. */
  sign(
    instructions: TransactionInstruction[],
    options?: { blockhash?: string; signers?: Keypair[] },
  ): Promise<{ wire: Buffer; signature: string }>;
  /** A transfer of so many lamports from the payer, confirmed; @returns its signature */
  transfer(to: PublicKey, lamports: number): Promise<string>;
}

export interface RpcAnswer {
  result?: unknown;
  error?: { code: number; message: string; data?: { err?: unknown } };
}

/** So long that slots pass only where a test skips them. */
export const HELD_SLOT_MS = 3_600_000;

const PAYER_LAMPORTS = 1_000_000_000_000;

export async function openLocalnet(options: LocalnetOptions = {}): Promise<LocalnetScene> {
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

  async function call(method: string, ...params: unknown[]): Promise<RpcAnswer> {
    const response = await fetch(localnet.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return (await response.json()) as RpcAnswer;
  }

  async function ask<Result>(method: string, ...params: unknown[]): Promise<Result> {
    const { result, error } = await call(method, ...params);
    if (error) throw new Error(`${error.code} ${error.message}`);
    return result as Result;
  }

  const scene: LocalnetScene = {
    ...localnet,
    connection,
    rpc: connectPooledRpc({ url: localnet.rpcUrl }),
    payer,
    call,
    ask,
    async close() {
      await hangUp(connection);
      await localnet.close();
    },
    async sign(instructions, { blockhash, signers = [] } = {}) {
      const transaction = new Transaction().add(...instructions);
      transaction.feePayer = payer.publicKey;
      transaction.recentBlockhash = blockhash ?? (await latestBlockhash(ask));
      transaction.sign(payer, ...signers);
      const signature = base58.encode(transaction.signature as Buffer);
      return { wire: transaction.serialize(), signature };
    },
    async transfer(toPubkey, lamports) {
      const { publicKey: fromPubkey } = payer;
      const transfer = SystemProgram.transfer({ fromPubkey, toPubkey, lamports });
      const { wire } = await scene.sign([transfer]);
      return ask<string>('sendTransaction', wire.toString('base64'), { encoding: 'base64' });
    },
  };
  if (options.isDevelopment !== false) {
    // A write without a transaction waits for the end of its slot.
    await ask('localnet_fund', payer.publicKey.toBase58(), PAYER_LAMPORTS);
  }
  return scene;
}

async function latestBlockhash(ask: LocalnetScene['ask']): Promise<string> {
  const { value } = await ask<{ value: { blockhash: string } }>('getLatestBlockhash', {
    commitment: 'confirmed',
  });
  return value.blockhash;
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
