import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { Connection, Keypair } from '@solana/web3.js';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { MACHINE_ENVIRONMENT } from '../../testing/childProcess.ts';
import { runCli } from '../../testing/cli.ts';
import { callLedger } from '../../testing/ledger/ledger.ts';

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'svc-localnet-command-'));
const payer = Keypair.generate();
const payerFile = join(folder, 'payer.json');
writeFileSync(payerFile, JSON.stringify([...payer.secretKey]), { mode: 0o600 });

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(...args: string[]) {
  const child = spawn(process.execPath, [MAIN, 'localnet', ...args], {
    env: MACHINE_ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  return child;
}

/** @returns what it says of itself, once it is there */
async function start(...args: string[]) {
  const child = run('--port', '0', ...args);
  const errors = text(child.stderr);
  let said = '';
  for await (const part of child.stdout) {
    said += part;
    if (said.includes('Ctrl-C')) break;
  }
  const read = (what: string) => new RegExp(`^${what} +(.+)$`, 'm').exec(said)?.[1] ?? '';
  return { child, said, errors, read, rpcUrl: read('JSON-RPC') };
}

/** @returns how it ends where it cannot start */
async function end(...args: string[]) {
  const child = run(...args);
  const [error, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { error, code };
}

describe('svc localnet', () => {
  it('prints its address and that it is no real chain, has the program, and ends on Ctrl-C', async () => {
    const ledger = await start('--payer', payerFile);
    expect(ledger.said).toContain('no chain');
    expect(ledger.read('payer')).toBe(payer.publicKey.toBase58());
    expect(ledger.read('kept')).toBe('nowhere: see --data-dir');
    const connection = new Connection(ledger.rpcUrl, 'confirmed');
    expect(await connection.getGenesisHash()).toBe(ledger.read('genesis hash'));
    expect(await connection.getBalance(payer.publicKey)).toBe(100_000e9);
    expect((await connection.getAccountInfo(PROGRAM_ID))?.executable).toBe(true);
    ledger.child.kill('SIGINT');
    expect(await once(ledger.child, 'exit')).toEqual([0, null]);
    // Not even Node's warning of its own SQLite.
    expect(await ledger.errors).toBe('');
  });

  it('keeps the ledger in a folder, and enables development methods only on request', async () => {
    const options = ['--data-dir', join(folder, 'kept'), '--slot-ms', '400'];
    const first = await start(...options);
    const to = Keypair.generate().publicKey.toBase58();
    await callLedger(first.rpcUrl, 'requestAirdrop', [to, 5_000_000]);
    await expect(callLedger(first.rpcUrl, 'localnet_fund', [to, 1])).rejects.toThrow(
      '--development',
    );
    first.child.kill('SIGTERM');
    await once(first.child, 'exit');

    const second = await start(...options, '--development');
    expect(second.read('genesis hash')).toBe(first.read('genesis hash'));
    expect(await callLedger(second.rpcUrl, 'getBalance', [to])).toMatchObject({ value: 5_000_000 });
    await callLedger(second.rpcUrl, 'localnet_fund', [to, 1]);
  });

  it('names an occupied port in one line', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { error, code } = await end('--port', `${port}`);
    other.close();
    expect(error).toBe(`Port ${port} of 127.0.0.1 is taken: name another port\n`);
    expect(code).toBe(1);
  });

  it('names an unusable folder in one line', async () => {
    const { error, code } = await end('--port', '0', '--data-dir', payerFile);
    expect(error).toMatch(new RegExp(`^The ledger's folder ${payerFile} cannot be made: .*\\n$`));
    expect(code).toBe(1);
  });

  it.each([
    ['--port', '65535', 'from 0 to 65534'],
    ['--slot-ms', '0', 'from 1 to 10000'],
    ['--slot-ms', 'fast', 'from 1 to 10000'],
    ['--confirm-slots', '32', 'from 0 to 31'],
  ])('refuses %s %s', async (option, value, words) => {
    const { error, code } = await runCli(['localnet', option, value]);
    expect(error).toContain(words);
    expect(code).toBe(1);
  });

  it('lists its options', async () => {
    const { output, code } = await runCli(['localnet', '--help']);
    for (const option of ['host', 'port', 'data-dir', 'slot-ms', 'confirm-slots', 'payer']) {
      expect(output).toContain(`--${option} `);
    }
    expect(output).toContain('--development');
    expect(code).toBe(0);
  });
});
