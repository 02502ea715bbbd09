import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Connection,
  Keypair,
  PublicKey,
  Transaction,
  TransactionInstruction,
} from '@solana/web3.js';
import { UPGRADEABLE_LOADER } from '../../localnet/runtime/deployment.ts';
import { callLedger, writeAccount } from '../../testing/ledger/ledger.ts';
import { killStarted, refuseLocalnet, startLocalnet } from './localnetCommand.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-localnet-accounts-'));
const newAddress = () => Keypair.generate().publicKey;
/** A small program of every ledger, whose account is its binary. */
const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const elf = join(folder, 'memo.so');
const [text, half] = ['text.so', 'half.so'].map((name) => join(folder, name)) as [string, string];
/** In a program's data: the slot of its deployment, which here no ledger reaches. */
const DEPLOYED_SLOT_AT = 4;
const HIGH_SLOT = 10n ** 12n;

beforeAll(async () => {
  const { rpcUrl } = await startLocalnet();
  const memo = await new Connection(rpcUrl, 'confirmed').getAccountInfo(MEMO);
  const binary = memo?.data ?? Buffer.of();
  writeFileSync(elf, binary);
  writeFileSync(text, 'no program');
  writeFileSync(half, binary.subarray(0, binary.length / 2));
});
afterEach(killStarted);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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

describe('svc localnet --bpf-program', () => {
  it('deploys as many programs as it names, beside the escrow', async () => {
    const [one, other] = [newAddress(), newAddress()];
    const options = [one, other].flatMap((id) => ['--bpf-program', id.toBase58(), elf]);
    const { rpcUrl } = await startLocalnet(...options);
    expect(await call(rpcUrl, one)).toContain(`Program ${one} success`);
    expect(await call(rpcUrl, other)).toContain(`Program ${other} success`);
  });

  const address = newAddress().toBase58();
  it.each([
    [[address], 'takes an address and a file'],
    [['memo', elf], "'memo' is no address"],
    [[address, join(folder, 'none.so')], `cannot read ${folder}/none.so: ENOENT`],
    [[address, text], `${text} is no program`],
    [[address, half], `The program ${address} cannot be loaded`],
  ])('refuses %j in one line', async (words, reason) => {
    const { error, code } = await refuseLocalnet('--port', '0', '--bpf-program', ...words);
    expect(error).toContain(reason);
    expect(error.trimEnd().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
  });
});

describe('svc localnet --clone', () => {
  it('copies accounts of another cluster, and a program with its data', async () => {
    const [account, program, owner] = [newAddress(), newAddress(), newAddress()];
    const source = await startLocalnet('--development', '--bpf-program', program.toBase58(), elf);
    await writeAccount(source.rpcUrl, account, { lamports: 5_000_000, data: Buffer.of(7), owner });
    await raiseSlot(source.rpcUrl, program);

    const { rpcUrl } = await startLocalnet(
      ...['--clone', account.toBase58(), '--clone', program.toBase58(), '--url', source.rpcUrl],
    );
    const cloned = await new Connection(rpcUrl, 'confirmed').getAccountInfo(account);
    expect(cloned).toMatchObject({ lamports: 5_000_000, data: Buffer.of(7), owner });
    expect(await call(rpcUrl, program)).toContain(`Program ${program} success`);
  });

  it('leaves an account of a kept ledger as it is', async () => {
    const account = newAddress();
    const source = await startLocalnet('--development');
    await writeAccount(source.rpcUrl, account, { lamports: 5_000_000 });
    const options = [
      ...['--clone', account.toBase58(), '--url', source.rpcUrl],
      ...['--data-dir', join(folder, 'kept'), '--development'],
    ];
    const first = await startLocalnet(...options);
    await writeAccount(first.rpcUrl, account, { lamports: 6_000_000 });
    first.child.kill('SIGTERM');
    await once(first.child, 'exit');

    const { rpcUrl } = await startLocalnet(...options);
    expect(await new Connection(rpcUrl, 'confirmed').getBalance(account)).toBe(6_000_000);
  });

  it('names what it cannot copy', async () => {
    const missing = newAddress().toBase58();
    const clone = ['--port', '0', '--clone', missing];
    expect((await refuseLocalnet(...clone)).error).toBe('--clone needs a node: --url <rpc>.\n');
    expect((await refuseLocalnet(...clone, '--url', 'devnet')).error).toBe(
      '--url is no http or https address.\n',
    );
    const { rpcUrl } = await startLocalnet();
    const { host } = new URL(rpcUrl);
    expect((await refuseLocalnet(...clone, '--url', rpcUrl)).error).toBe(
      `--clone ${missing}: ${host} has no such account.\n`,
    );
    killStarted();
    expect((await refuseLocalnet(...clone, '--url', rpcUrl)).error).toContain(
      `The ledger's node at ${host} cannot be reached`,
    );
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
