import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Keypair,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { type LocalnetScene, openLocalnet } from './scene.ts';

let scene: LocalnetScene;
beforeAll(async () => {
  scene = await openLocalnet();
});
afterAll(() => scene.close());

const BASE64 = { encoding: 'base64', preflightCommitment: 'confirmed' };
const send = (wire: Uint8Array, options: object = {}) =>
  scene.call('sendTransaction', Buffer.from(wire).toString('base64'), { ...BASE64, ...options });
const somebody = () => Keypair.generate().publicKey;

const transfer = (lamports: number, toPubkey = somebody()) =>
  SystemProgram.transfer({ fromPubkey: scene.payer.publicKey, toPubkey, lamports });

const balance = () => scene.connection.getBalance(scene.payer.publicKey);

describe('a transaction', () => {
  it('is executed once', async () => {
    const { wire } = await scene.sign([transfer(5_000_000)]);
    await send(wire);
    const before = await balance();
    expect((await send(wire)).error).toMatchObject({
      code: -32002,
      message: expect.stringContaining('already been processed'),
      data: { err: 'AlreadyProcessed' },
    });
    expect((await send(wire, { skipPreflight: true })).error).toBeUndefined();
    expect(await balance()).toBe(before);
    const simulate = (options: object = {}) =>
      scene.ask('simulateTransaction', wire.toString('base64'), { ...BASE64, ...options });
    expect(await simulate()).toMatchObject({ value: { err: 'AlreadyProcessed' } });
    // With another blockhash it is another transaction.
    const renewed = await simulate({ replaceRecentBlockhash: true });
    expect(renewed).toMatchObject({ value: { err: null } });
  });

  it('is refused with BlockhashNotFound once its blockhash is too old', async () => {
    const { wire } = await scene.sign([transfer(5_000_000)]);
    const { value, context } = await scene.connection.getLatestBlockhashAndContext();
    const lifeSlots = value.lastValidBlockHeight - context.slot;
    expect(lifeSlots).toBeGreaterThan(3_000 / 5);
    await scene.ask('localnet_skipSlots', lifeSlots + 40);
    expect((await send(wire)).error?.data?.err).toBe('BlockhashNotFound');
    expect(await scene.ask('isBlockhashValid', value.blockhash)).toMatchObject({ value: false });
  });

  it('costs its fee when it fails without preflight, and nothing with it', async () => {
    const { wire, signature } = await scene.sign([transfer(1e15)]);
    const before = await balance();
    expect((await send(wire)).error).toMatchObject({
      code: -32002,
      message:
        'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
      data: { err: { InstructionError: [0, { Custom: 1 }] }, unitsConsumed: expect.any(Number) },
    });
    expect(await balance()).toBe(before);
    expect((await send(wire, { skipPreflight: true })).error).toBeUndefined();
    expect(await balance()).toBe(before - 5_000);
    expect((await scene.connection.getSignatureStatus(signature)).value?.err).toEqual({
      InstructionError: [0, { Custom: 1 }],
    });
  });

  it('still pays its fee when it exceeds its limit of loaded data', async () => {
    const limit = Buffer.from([4, 1, 0, 0, 0]);
    const { programId } = ComputeBudgetProgram;
    const tooLow = new TransactionInstruction({ programId, keys: [], data: limit });
    const { wire, signature } = await scene.sign([transfer(5_000_000), tooLow]);
    const before = await balance();
    await send(wire, { skipPreflight: true });
    expect(await balance()).toBe(before - 5_000);
    expect((await scene.connection.getSignatureStatus(signature)).value?.err).toBe(
      'MaxLoadedAccountsDataSizeExceeded',
    );
  });
});

describe('a lookup table', () => {
  it('is created with a recent slot from SlotHashes, and used', async () => {
    const { connection, payer } = scene;
    const authority = payer.publicKey;
    const recentSlot = await connection.getSlot('finalized');
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority,
      payer: authority,
      recentSlot,
    });
    const to = somebody();
    const extend = AddressLookupTableProgram.extendLookupTable({
      authority,
      payer: authority,
      lookupTable: table,
      addresses: [to],
    });
    const { wire } = await scene.sign([create, extend]);
    expect((await send(wire)).error).toBeUndefined();
    await scene.ask('localnet_skipSlots', 2);
    const { value } = await connection.getAddressLookupTable(table);
    if (!value) throw new Error('there is no table');
    const { blockhash } = await connection.getLatestBlockhash();
    const message = new TransactionMessage({
      payerKey: authority,
      recentBlockhash: blockhash,
      instructions: [transfer(6_000_000, to)],
    }).compileToV0Message([value]);
    const transaction = new VersionedTransaction(message);
    transaction.sign([payer]);
    const { result, error } = await send(transaction.serialize());
    expect(error).toBeUndefined();
    expect(await connection.getBalance(to)).toBe(6_000_000);
    const found = await connection.getTransaction(result as string, {
      maxSupportedTransactionVersion: 0,
    });
    expect(found?.version).toBe(0);
    expect(found?.meta?.loadedAddresses?.writable.map(String)).toEqual([to.toBase58()]);
  });
});
