import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Connection,
  Keypair,
  PublicKey,
  Transaction,
  TransactionInstruction,
} from '@solana/web3.js';
import { UPGRADEABLE_LOADER } from '../../localnet/runtime/deployment.ts';
import { runCli } from '../../testing/cli.ts';
import {
  callLedger,
  startLedger,
  type TestLedger,
  writeAccount,
} from '../../testing/ledger/ledger.ts';
import { killStarted, startLocalnet } from './localnetCommand.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-localnet-accounts-'));
const newAddress = () => Keypair.generate().publicKey;
/** A small program of every ledger, whose account is its binary. */
const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const elf = join(folder, 'memo.so');
const [text, half] = ['text.so', 'half.so'].map((name) => join(folder, name)) as [string, string];
/** In a program's data: the slot of its deployment, which here no ledger reaches. */
const DEPLOYED_SLOT_AT = 4;
const HIGH_SLOT = 10n ** 12n;

let source: TestLedger;
beforeAll(async () => {
  source = await startLedger();
  const memo = await source.connection.getAccountInfo(MEMO);
  const binary = memo?.data ?? Buffer.of();
  writeFileSync(elf, binary);
  writeFileSync(text, 'no program');
  writeFileSync(half, binary.subarray(0, binary.length / 2));
});
afterAll(async () => {
  killStarted();
  await source.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Sends a memo to a program. @throws Error when the ledger does not run it */
async function call(rpcUrl: string, programId: PublicKey): Promise<readonly string[]> {
  const connection = new Connection(rpcUrl, 'confirmed');
  const payer = Keypair.generate();
  await callLedger(rpcUrl, 'requestAirdrop', [payer.publicKey.toBase58(), 1_000_000_000]);
  const { blockhash } = await connection.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash });
  transaction.add(new TransactionInstruction({ programId, keys: [], data: Buffer.from('hello') }));
  transaction.sign(payer);
  const signature = await connection.sendRawTransaction(transaction.serialize());
  const landed = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
  return landed?.meta?.logMessages ?? [];
}

describe('svc localnet', () => {
  it('deploys and copies programs and accounts, and keeps them as they are', async () => {
    const [account, program, other, owner] = [1, 2, 3, 4].map(newAddress) as [
      ...[PublicKey, PublicKey, PublicKey, PublicKey],
    ];
    const deploy = [program, other].flatMap((id) => ['--bpf-program', id.toBase58(), elf]);
    const cluster = await startLocalnet('--development', ...deploy);
    for (const id of [program, other]) {
      expect(await call(cluster.rpcUrl, id)).toContain(`Program ${id} success`);
    }
    await writeAccount(cluster.rpcUrl, account, { lamports: 5_000_000, data: Buffer.of(7), owner });
    await raiseSlot(cluster.rpcUrl, program);

    const options = [
      ...['--clone', account.toBase58(), '--clone', program.toBase58(), '--url', cluster.rpcUrl],
      ...['--data-dir', join(folder, 'kept'), '--development'],
    ];
    const first = await startLocalnet(...options);
    const read = (rpcUrl: string) => new Connection(rpcUrl, 'confirmed').getAccountInfo(account);
    const written = { lamports: 5_000_000, data: Buffer.of(7), owner };
    expect(await read(first.rpcUrl)).toMatchObject(written);
    expect(await call(first.rpcUrl, program)).toContain(`Program ${program} success`);

    await writeAccount(first.rpcUrl, account, { lamports: 6_000_000 });
    first.child.kill('SIGTERM');
    await once(first.child, 'exit');
    const again = await startLocalnet(...options);
    expect(await read(again.rpcUrl)).toMatchObject({ lamports: 6_000_000 });
  });

  const address = newAddress().toBase58();
  it.each([
    [['--bpf-program', address], 'takes an address and a file'],
    [['--bpf-program', address, join(folder, 'none.so')], `${folder}/none.so: ENOENT`],
    [['--bpf-program', address, text], `${text} is no program`],
    [['--bpf-program', address, half], `The program ${address} cannot be loaded`],
    [['--clone', address, '--url', 'devnet'], '--url is no http or https address.'],
    [['--clone', address, '--url', 'http://127.0.0.1:1'], 'at 127.0.0.1:1 cannot be reached'],
  ])('refuses %j in one line', async (words, reason) => {
    const { error, code } = await runCli(['localnet', '--port', '0', ...words]);
    expect([code, error]).toEqual([1, expect.stringContaining(reason)]);
    expect(error.trimEnd().split('\n')).toHaveLength(1);
  });

  it('names an account that the other cluster does not have', async () => {
    const from = ['--clone', address, '--url', source.rpcUrl];
    expect(await runCli(['localnet', '--port', '0', ...from])).toMatchObject({
      ...{
        code: 1,
        error: `--clone ${address}: ${new URL(source.rpcUrl).host} has no such account.\n`,
      },
    });
  });
});

/** As on a cluster that is older than the ledger that copies from it. */
async function raiseSlot(rpcUrl: string, program: PublicKey): Promise<void> {
  const loader = new PublicKey(UPGRADEABLE_LOADER);
  const [address] = PublicKey.findProgramAddressSync([program.toBytes()], loader);
  const info = await new Connection(rpcUrl, 'confirmed').getAccountInfo(address);
  const data = Buffer.from(info?.data ?? []);
  data.writeBigUInt64LE(HIGH_SLOT, DEPLOYED_SLOT_AT);
  await writeAccount(rpcUrl, address, { data });
}
