import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Keypair } from '@solana/web3.js';
import { within } from '../../../common/wait.ts';
import { startLocalnet } from '../../../localnet/start.ts';

/** A ledger's node that is asked. */
export interface Target {
  readonly name: string;
  readonly rpcUrl: string;
  readonly wsUrl: string;
  close(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('surfpoolMain.ts', import.meta.url));
const START_MS = 60_000;
const ATTEMPTS = 3;

/** So long that nothing becomes final in the middle of a comparison. */
const SLOT_MS = 400;

/** The local ledger, as a client meets it: nothing of it is for development. */
export async function openLocal(): Promise<Target> {
  const { rpcUrl, wsUrl, close } = await startLocalnet({ slotMs: SLOT_MS });
  return { name: 'the local ledger', rpcUrl, wsUrl, close };
}

/**
 * What it is compared with: the validator at CONTRACT_RPC_URL and CONTRACT_WS_URL, else surfpool.
 *
 * @returns words where there is neither
 */
export async function openOther(): Promise<Target | string> {
  const { CONTRACT_RPC_URL: rpcUrl, CONTRACT_WS_URL: wsUrl } = process.env;
  if (rpcUrl) {
    const close = async () => undefined;
    return { name: 'the validator', rpcUrl, wsUrl: wsUrl ?? nextPort(rpcUrl), close };
  }
  const platform = `${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;
  const packageName = `@solana/surfpool-${platform}`;
  try {
    createRequire(import.meta.url).resolve(packageName);
  } catch {
    return `no surfpool is installed for ${platform}: the local ledger was compared with nothing`;
  }
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const started = await startSurfpool(packageName);
    if (started) return started;
  }
  throw new Error(`surfpool did not start in ${ATTEMPTS} attempts`);
}

/** @returns undefined when it stays silent, as it does where a port was taken */
async function startSurfpool(packageName: string): Promise<Target | undefined> {
  const secretKey = Buffer.from(Keypair.generate().secretKey).toString('hex');
  const child = spawn(process.execPath, [MAIN, packageName, secretKey], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const close = async (): Promise<void> => {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
  };
  const lines = createInterface({ input: child.stdout });
  const said = await within(START_MS, once(lines, 'line'));
  if (said) {
    const { rpcUrl, wsUrl } = JSON.parse(String(said[0])) as { rpcUrl: string; wsUrl: string };
    return { name: 'surfpool', rpcUrl, wsUrl, close };
  }
  await close();
  return undefined;
}

/** Where validators have their websocket. */
function nextPort(rpcUrl: string): string {
  const url = new URL(rpcUrl.replace('http', 'ws'));
  url.port = String(Number(url.port) + 1);
  return url.href;
}
