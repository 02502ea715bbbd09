import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { Connection, Keypair } from '@solana/web3.js';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { runCli } from '../../testing/cli.ts';
import { callLedger } from '../../testing/ledger/ledger.ts';
import { killStarted, startLocalnet } from './localnetCommand.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-localnet-command-'));
const payer = Keypair.generate();
const payerFile = join(folder, 'payer.json');
writeFileSync(payerFile, JSON.stringify([...payer.secretKey]), { mode: 0o600 });

afterEach(killStarted);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('svc localnet', () => {
  it('prints its address, has the program as on mainnet, and ends on Ctrl-C', async () => {
    const ledger = await startLocalnet('--payer', payerFile, '--profile', 'mainnet');
    expect(ledger.said).toContain('no chain');
    expect(ledger.read('payer')).toBe(payer.publicKey.toBase58());
    expect(ledger.read('kept')).toBe('nowhere: see --data-dir');
    const connection = new Connection(ledger.rpcUrl, 'confirmed');
    expect(await connection.getGenesisHash()).toBe(ledger.read('genesis hash'));
    expect(await connection.getBalance(payer.publicKey)).toBe(100_000e9);
    expect((await connection.getAccountInfo(PROGRAM_ID))?.executable).toBe(true);
    expect(await connection.getMinimumBalanceForRentExemption(0)).toBe(128 * 5_080);
    const genesis = await callLedger(ledger.rpcUrl, 'getAgGenesisCert', []);
    expect(genesis).toMatchObject({ block: { slot: 0 } });
    ledger.child.kill('SIGINT');
    expect(await once(ledger.child, 'exit')).toEqual([0, null]);
    // Not even Node's warning of its own SQLite.
    expect(await ledger.errors).toBe('');
  });

  it('keeps the ledger in a folder, and development methods off by default', async () => {
    const options = ['--data-dir', join(folder, 'kept'), '--slot-ms', '400'];
    const first = await startLocalnet(...options);
    const to = Keypair.generate().publicKey.toBase58();
    await callLedger(first.rpcUrl, 'requestAirdrop', [to, 5_000_000]);
    await expect(callLedger(first.rpcUrl, 'localnet_fund', [to, 1])).rejects.toThrow(
      '--development',
    );
    first.child.kill('SIGTERM');
    await once(first.child, 'exit');

    const second = await startLocalnet(...options, '--development', '--unreliable', '7');
    expect(second.read('genesis hash')).toBe(first.read('genesis hash'));
    expect(second.read('reliable')).toBe('no: --unreliable 7');
    expect(await callLedger(second.rpcUrl, 'getBalance', [to])).toMatchObject({ value: 5_000_000 });
    await callLedger(second.rpcUrl, 'localnet_fund', [to, 1]);
  });

  it('names an unusable folder in one line', async () => {
    const { error, code } = await runCli(['localnet', '--port', '0', '--data-dir', payerFile]);
    expect(error).toMatch(new RegExp(`^The ledger's folder ${payerFile} cannot be made: .*\\n$`));
    expect(code).toBe(1);
  });
});
