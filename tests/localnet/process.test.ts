import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Connection, Keypair } from '@solana/web3.js';
import { MACHINE_ENVIRONMENT } from '../../testing/childProcess.ts';

const MAIN = fileURLToPath(new URL('../../localnet/main.ts', import.meta.url));

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function run(settings: NodeJS.ProcessEnv): ChildProcess & { stdout: NodeJS.ReadableStream } {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN], {
    env: { ...MACHINE_ENVIRONMENT, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  return child;
}

const withPayer = (settings: NodeJS.ProcessEnv = {}) => {
  const payer = Keypair.generate();
  return { payer, settings: { LOCALNET_PAYER_KEY: base58.encode(payer.secretKey), ...settings } };
};

async function readyLine({ stdout }: { stdout: NodeJS.ReadableStream }) {
  const [line] = await once(createInterface({ input: stdout }), 'line');
  return JSON.parse(line) as { ready: true; url: string; wsUrl: string };
}

describe("the local ledger's process", () => {
  it('prints its address and funds the payer', async () => {
    const { payer, settings } = withPayer();
    const { url, wsUrl } = await readyLine(run(settings));
    expect(Number(new URL(wsUrl).port)).toBe(Number(new URL(url).port) + 1);
    const connection = new Connection(url, 'confirmed');
    expect(await connection.getBalance(payer.publicKey)).toBe(100_000e9);
  });

  it('has the profile that its setting names', async () => {
    const { url } = await readyLine(run(withPayer({ LOCALNET_PROFILE: 'mainnet' }).settings));
    const connection = new Connection(url, 'confirmed');
    expect(await connection.getMinimumBalanceForRentExemption(0)).toBe(128 * 5_080);
  });

  it('ends with its parent process, however that ends', async () => {
    const parent = spawn('sleep', ['600']);
    started.push(parent);
    const { settings } = withPayer({ SVC_PARENT_PID: `${parent.pid}` });
    // It is no child of the process that is named, so that one counts as gone.
    const ledger = run(settings);
    await readyLine(ledger);
    expect(await once(ledger, 'exit')).toEqual([0, null]);
  });

  it('exits with code 0 on SIGTERM', async () => {
    const ledger = run(withPayer().settings);
    await readyLine(ledger);
    ledger.kill('SIGTERM');
    expect(await once(ledger, 'exit')).toEqual([0, null]);
  });

  it('exits with the name of an occupied port', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const ledger = run(withPayer({ LOCALNET_PORT: `${port}` }).settings);
    const words = await text(ledger.stderr as NodeJS.ReadableStream);
    other.close();
    expect(words).toContain(`Port ${port} of 127.0.0.1 is taken`);
  });

  it('exits with the name of each malformed setting', async () => {
    const ledger = run({ LOCALNET_SLOT_MS: 'fast' });
    const words = await text(ledger.stderr as NodeJS.ReadableStream);
    expect(words).toContain('LOCALNET_SLOT_MS: must be a number');
    expect(words).toContain('LOCALNET_PAYER_KEY: is required');
  });
});
