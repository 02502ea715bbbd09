import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { base58 } from '@scure/base';
import { Connection, Keypair } from '@solana/web3.js';

const MAIN = fileURLToPath(new URL('../../localnet/main.ts', import.meta.url));

/** A local ledger in a process of its own, which a test may kill. */
export interface LedgerProcess {
  rpcUrl: string;
  connection: Connection;
  process: ChildProcess;
  /** At once, as a power cut would end it. */
  kill(): Promise<void>;
}

/** @throws Error when it ends before it is ready */
export async function startLedgerProcess(settings: NodeJS.ProcessEnv = {}): Promise<LedgerProcess> {
  const payer = Keypair.generate();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN], {
    env: {
      PATH: process.env.PATH,
      LOCALNET_PAYER_KEY: base58.encode(payer.secretKey),
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const line = once(createInterface({ input: child.stdout }), 'line');
  const [first] = await Promise.race([
    line,
    ended.then(([code]) => {
      throw new Error(`the ledger ended with code ${code}`);
    }),
  ]);
  const { url: rpcUrl } = JSON.parse(first) as { url: string };
  return {
    rpcUrl,
    connection: new Connection(rpcUrl, 'confirmed'),
    process: child,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
