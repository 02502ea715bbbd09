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

async function sendTransfer(config?: TransactionConfig) {
  const signed = await sign([transfer(5_000_000)], config);
  expect((await send(signed.wire)).result).toBe(signed.signature);
  return signed;
}

const read = (signature: string, shape: object) =>
  scene.call('getTransaction', signature, { commitment: 'confirmed', ...shape });

describe('a transaction of version 1', () => {
  it('is executed, for the fee of its signature and what its config adds', async () => {
    const balance = () => scene.connection.getBalance(scene.payer.publicKey);
    const before = await balance();
    const { bytes } = await sendTransfer();
    expect(before - (await balance())).toBe(5_000_000 + 5_000 + 77);
    const message = Buffer.from(decodeTransaction(bytes).message).toString('base64');
    const fee = await scene.call('getFeeForMessage', message, { commitment: 'confirmed' });
    expect(fee.result).toMatchObject({ value: 5_077 });
  });

  it('is shown with its config to readers of the version, refused to others', async () => {
    const { signature, bytes } = await sendTransfer();
    for (const shape of [{}, { maxSupportedTransactionVersion: 0 }]) {
      expect((await read(signature, shape)).error).toMatchObject({ code: -32015 });
    }
    const inNoByte = await read(signature, { maxSupportedTransactionVersion: 256 });
    expect(inNoByte.error).toMatchObject({ code: -32602 });
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

  it('is in every list, and in blocks for readers that know the version', async () => {
    const { signature } = await sendTransfer();
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

  it('may be of more bytes than a packet, up to 4,096', async () => {
    const transfers = Array.from({ length: 40 }, () => transfer(1_000_000));
    const { wire, bytes, signature } = await sign(transfers);
    expect(bytes.length).toBeGreaterThan(2_000);
    expect((await send(wire)).result).toBe(signature);
  });
});
