import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Connection, Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { delay } from '../../runtime/wait.ts';
import { startLedger } from '../../stack/ledger.ts';
import { callLedger } from '../../stack/ledgerCall.ts';

const LEDGER = new URL('../../stack/ledger.ts', import.meta.url).href;
const WATCH = new URL('../../stack/parentWatch.ts', import.meta.url).href;
const LEDGER_MAIN = fileURLToPath(new URL('../../stack/ledgerMain.ts', import.meta.url));

const USER = `
  import { startLedger } from '${LEDGER}';
  console.log((await startLedger()).rpcUrl);
`;
const STAYING_USER = `${USER} setInterval(() => {}, 1_000);`;
const ON_ANOTHER_PLATFORM = `
  Object.defineProperty(process, 'arch', { value: 'pdp11' });
  const { startLedger } = await import('${LEDGER}');
  await startLedger();
`;
const BLOCKED = `
  import { watchParent } from '${WATCH}';
  watchParent();
  process.stdout.write('blocked');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
`;
const PARENT_OF_BLOCKED = `
  import { spawn } from 'node:child_process';
  const env = { ...process.env, SVC_PARENT_PID: String(process.pid) };
  const args = ['--input-type=module', '-e', ${JSON.stringify(BLOCKED)}];
  spawn(process.execPath, args, { env, stdio: ['ignore', 'inherit', 'inherit'] });
`;

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function run(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, RUST_LOG: 'off', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  return child;
}

const runScript = (script: string) => run(['--input-type=module', '-e', script]);

async function firstLine({ stdout }: { stdout: NodeJS.ReadableStream }): Promise<string> {
  const [line] = await once(createInterface({ input: stdout }), 'line');
  return line;
}

async function answers(rpcUrl: string): Promise<boolean> {
  try {
    await callLedger(rpcUrl, 'getSlot', []);
    return true;
  } catch {
    return false;
  }
}

async function untilGone(rpcUrl: string): Promise<void> {
  while (await answers(rpcUrl)) await delay(50);
}

describe('the embedded ledger', () => {
  it('belongs to the payer that is given, funds anybody, and is gone once it is closed', async () => {
    const payer = Keypair.generate();
    const ledger = await startLedger({ payer });
    const connection = new Connection(ledger.rpcUrl, 'confirmed');
    expect(ledger.payer.secretKey).toEqual(payer.secretKey);
    expect(await connection.getBalance(payer.publicKey)).toBe(100_000e9);

    const { publicKey } = Keypair.generate();
    for (const lamports of [5e9, 2e9]) {
      await ledger.fundLamports(publicKey, lamports);
      expect(await connection.getBalance(publicKey)).toBe(lamports);
    }

    await ledger.close();
    expect(await answers(ledger.rpcUrl)).toBe(false);
  });

  it('ends with the process that started it, however that one ends', async () => {
    const user = runScript(STAYING_USER);
    const rpcUrl = await firstLine(user);
    expect(await answers(rpcUrl)).toBe(true);
    user.kill('SIGKILL');
    await untilGone(rpcUrl);
  });

  it('keeps no process from ending', async () => {
    const user = runScript(USER);
    const [rpcUrl, [code]] = await Promise.all([firstLine(user), once(user, 'exit')]);
    expect(code).toBe(0);
    await untilGone(rpcUrl);
  });

  it('ends on SIGTERM', async () => {
    const SVC_LEDGER_PAYER_KEY = bs58.encode(Keypair.generate().secretKey);
    const ledger = run([LEDGER_MAIN], { SVC_LEDGER_PAYER_KEY, SVC_LEDGER_SLOT_TIME_MS: '20' });
    await firstLine(ledger);
    ledger.kill('SIGTERM');
    expect(await once(ledger, 'exit')).toEqual([null, 'SIGTERM']);
  });

  it('says at once for which platform there is none', async () => {
    const user = runScript(ON_ANOTHER_PLATFORM);
    const words = await text(user.stderr);
    expect(words).toContain(`No embedded ledger is built for ${process.platform}-pdp11`);
    expect(words).not.toContain('attempts');
  });
});

describe('a process whose thread is blocked', () => {
  it('ends with its parent when another of its threads watches that', async () => {
    const parent = runScript(PARENT_OF_BLOCKED);
    await once(parent.stdout, 'data');
    parent.kill('SIGKILL');
    // The blocked process holds these streams too.
    await once(parent, 'close');
  });
});
