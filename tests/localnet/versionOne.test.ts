import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { decodeTransaction, type TransactionConfig } from '../../programs/client/wire/index.ts';
import { signVersionOne } from '../../testing/ledger/versionOne.ts';
import { type LocalnetScene, openLocalnet } from './scene.ts';

let scene: LocalnetScene;
beforeAll(async () => {
  scene = await openLocalnet();
});
afterAll(() => scene.close());

interface TransactionJson {
  readonly transaction: { readonly message: { readonly transactionConfig: object } };
}

const CONFIG = {
  priorityFeeLamports: 77n,
  computeUnitLimit: 20_000,
  loadedAccountsDataSizeLimit: 65_536,
};

async function sign(instructions: TransactionInstruction[], config: TransactionConfig = CONFIG) {
  const { blockhash } = await scene.connection.getLatestBlockhash();
  return signVersionOne({ instructions, signers: [scene.payer], blockhash, config });
}

const transfer = (lamports: number, toPubkey = Keypair.generate().publicKey) =>
  SystemProgram.transfer({ fromPubkey: scene.payer.publicKey, toPubkey, lamports });
const send = (wire: string) =>
  scene.call('sendTransaction', wire, { encoding: 'base64', preflightCommitment: 'confirmed' });
const read = (signature: string, shape: object) =>
  scene.call('getTransaction', signature, { commitment: 'confirmed', ...shape });

describe('a transaction of version 1', () => {
  it('is executed, for the fee of its signature and what its config adds', async () => {
    const to = Keypair.generate().publicKey;
    const before = await scene.connection.getBalance(scene.payer.publicKey);
    const { wire, signature } = await sign([transfer(5_000_000, to)]);
    expect((await send(wire)).result).toBe(signature);
    expect(await scene.connection.getBalance(to)).toBe(5_000_000);
    const after = await scene.connection.getBalance(scene.payer.publicKey);
    expect(before - after).toBe(5_000_000 + 5_000 + 77);
  });

  it('is shown with its config to readers of the version, refused to others', async () => {
    const { wire, signature, bytes } = await sign([transfer(5_000_000)]);
    await send(wire);
    for (const shape of [{}, { maxSupportedTransactionVersion: 0 }]) {
      expect((await read(signature, shape)).error).toMatchObject({ code: -32015 });
    }
    const known = { maxSupportedTransactionVersion: 1 };
    const config = {
      computeUnitLimit: 20_000,
      heapSize: null,
      loadedAccountsDataSizeLimit: 65_536,
      priorityFee: 77,
    };
    for (const encoding of ['json', 'jsonParsed']) {
      const { result } = await read(signature, { ...known, encoding });
      expect(result).toMatchObject({
        version: 1,
        meta: { err: null, fee: 5_077 },
        transaction: { signatures: [signature], message: { transactionConfig: config } },
      });
      expect(result).not.toHaveProperty('transaction.message.addressTableLookups');
    }
    const { result } = await read(signature, { ...known, encoding: 'base64' });
    expect(result).toMatchObject({
      transaction: [Buffer.from(bytes).toString('base64'), 'base64'],
    });
  });

  it('has the fields of version 1 alone, null for what its config leaves out', async () => {
    const { priorityFeeLamports: _, ...asked } = { ...CONFIG, heapSize: 65_536 };
    const { wire, signature } = await sign([transfer(5_000_000)], asked);
    await send(wire);
    const shape = { encoding: 'json', maxSupportedTransactionVersion: 1 };
    const { result } = (await read(signature, shape)) as unknown as { result: TransactionJson };
    const { message } = result.transaction;
    const fields = [
      'accountKeys',
      'header',
      'instructions',
      'recentBlockhash',
      'transactionConfig',
    ];
    expect(Object.keys(message).toSorted()).toEqual(fields);
    expect(message.transactionConfig).toEqual({ ...asked, priorityFee: null });
  });

  it('is in every list, and in blocks for readers that know the version', async () => {
    const { wire, signature } = await sign([transfer(5_000_000)]);
    await send(wire);
    const { result: listed } = await scene.call(
      ...(['getSignaturesForAddress', scene.payer.publicKey.toBase58()] as const),
      { commitment: 'confirmed', limit: 1 },
    );
    const [{ slot }] = listed as [{ slot: number }];
    expect(listed).toMatchObject([{ signature, err: null }]);
    const block = (shape: object) =>
      scene.call('getBlock', slot, { commitment: 'confirmed', ...shape });
    for (const transactionDetails of ['full', 'accounts']) {
      for (const older of [{}, { maxSupportedTransactionVersion: 0 }]) {
        const { error } = await block({ transactionDetails, ...older });
        expect(error).toMatchObject({ code: -32015 });
      }
      const { result } = await block({ transactionDetails, maxSupportedTransactionVersion: 255 });
      expect(result).toMatchObject({ transactions: [{ version: 1, meta: { err: null } }] });
    }
    expect((await block({ transactionDetails: 'signatures' })).result).toMatchObject({
      signatures: [signature],
    });
  });

  it('is refused to readers of a version that no byte holds', async () => {
    const { wire, signature } = await sign([transfer(5_000_000)]);
    await send(wire);
    const { error } = await read(signature, { maxSupportedTransactionVersion: 256 });
    expect(error).toMatchObject({ code: -32602 });
  });

  it('may be of more bytes than a packet, up to 4,096', async () => {
    const transfers = Array.from({ length: 40 }, () => transfer(1_000_000));
    const { wire, bytes, signature } = await sign(transfers);
    expect(bytes.length).toBeGreaterThan(2_000);
    expect((await send(wire)).result).toBe(signature);
  });

  it('fails when it asks for too few units', async () => {
    const { wire } = await sign([transfer(5_000_000)], { ...CONFIG, computeUnitLimit: 1 });
    expect((await send(wire)).error).toMatchObject({
      code: -32002,
      data: { err: { InstructionError: [0, 'ComputationalBudgetExceeded'] } },
    });
  });

  it('is simulated, and its message has a fee', async () => {
    const { wire, bytes } = await sign([transfer(5_000_000)]);
    const simulated = await scene.call('simulateTransaction', wire, {
      ...{ encoding: 'base64', sigVerify: true, commitment: 'confirmed' },
    });
    expect(simulated.result).toMatchObject({ value: { err: null } });
    const message = Buffer.from(decodeTransaction(bytes).message).toString('base64');
    const fee = await scene.call('getFeeForMessage', message, { commitment: 'confirmed' });
    expect(fee.result).toMatchObject({ value: 5_077 });
  });
});
