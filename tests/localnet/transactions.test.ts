import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Ed25519Program,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { HELD_SLOT_MS, type LocalnetScene, openLocalnet } from './scene.ts';

let scene: LocalnetScene;
beforeAll(async () => {
  scene = await openLocalnet();
});
afterAll(() => scene.close());

const BASE64 = { encoding: 'base64', preflightCommitment: 'confirmed' };
const send = (wire: Uint8Array, options: object = {}) =>
  scene.call('sendTransaction', Buffer.from(wire).toString('base64'), { ...BASE64, ...options });
const somebody = () => Keypair.generate().publicKey;

function transfer(
  lamports: number,
  toPubkey = somebody(),
  from = scene.payer,
): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey, lamports });
}

const balance = () => scene.connection.getBalance(scene.payer.publicKey);

describe('a transaction', () => {
  it('is confirmed when its call returns', async () => {
    const held = await openLocalnet({ slotMs: HELD_SLOT_MS });
    await held.ask('localnet_skipSlots', 1);
    const signature = await held.transfer(somebody(), 5_000_000);
    const { value } = await held.connection.getSignatureStatus(signature);
    expect(value).toMatchObject({ confirmationStatus: 'confirmed', err: null });
    await held.close();
  });

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

  it('is refused with an unknown blockhash', async () => {
    const { wire } = await scene.sign([transfer(1)], { blockhash: somebody().toBase58() });
    expect((await send(wire)).error?.data?.err).toBe('BlockhashNotFound');
  });

  it('is refused with a wrong signature, with and without preflight', async () => {
    const { wire } = await scene.sign([transfer(5_000_000)]);
    wire.writeUInt8(wire.readUInt8(20) ^ 1, 20);
    for (const skipPreflight of [false, true]) {
      expect((await send(wire, { skipPreflight })).error).toMatchObject({
        code: -32002,
        data: { err: 'SignatureFailure' },
      });
    }
  });

  it.each([
    ['of more than 1,232 bytes', () => Buffer.alloc(1_233), /too large/],
    [
      'with a byte behind it',
      async () => Buffer.concat([await wireOf(1), Buffer.alloc(1)]),
      /trailing/,
    ],
    ['that ends too early', async () => (await wireOf(2)).subarray(0, -1), /ends before its end/],
    [
      'without a signature that it wants',
      async () => Buffer.from([0, ...(await wireOf(3)).subarray(65)]),
      /0 signatures/,
    ],
    ['of a later version', () => Buffer.from([0, 0x82, 1]), /version 2 is not supported/],
    ['that is empty', () => Buffer.alloc(0), /ends before its end/],
  ])('is refused %s', async (_what, make, words) => {
    const { error } = await send(await make());
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(words) });
  });

  async function wireOf(lamports: number): Promise<Buffer> {
    return (await scene.sign([transfer(lamports)])).wire;
  }

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

describe('the fee of getFeeForMessage', () => {
  const ed25519 = () =>
    Ed25519Program.createInstructionWithPrivateKey({
      privateKey: scene.payer.secretKey,
      message: Buffer.from('signed'),
    });

  it.each([
    ['one signature', () => [transfer(5_000_000)], 5_000],
    ['a signature in a precompile', () => [ed25519(), transfer(5_000_000)], 10_000],
    [
      'a price for its limit',
      () => [
        transfer(5_000_000),
        ComputeBudgetProgram.setComputeUnitLimit({ units: 1_000 }),
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_500_000 }),
      ],
      6_500,
    ],
    [
      'a price without a limit',
      () => [
        transfer(5_000_000),
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000_001 }),
      ],
      11_001,
    ],
  ])('equals the charged fee, with %s', async (_what, make, fee) => {
    const instructions = make();
    const before = await balance();
    const { wire, signature } = await scene.sign(instructions);
    const message = Transaction.from(wire).compileMessage();
    expect((await scene.connection.getFeeForMessage(message)).value).toBe(fee);
    expect((await send(wire)).error).toBeUndefined();
    expect(before - (await balance())).toBe(fee + 5_000_000);
    const found = await scene.connection.getTransaction(signature, {
      maxSupportedTransactionVersion: 0,
    });
    expect(found?.meta?.fee).toBe(fee);
  });
});

describe('commitment levels', () => {
  let slow: LocalnetScene;
  beforeAll(async () => {
    slow = await openLocalnet({ slotMs: HELD_SLOT_MS, confirmSlots: 2 });
  });
  afterAll(() => slow.close());

  it('each show an account as it was at that level', async () => {
    const to = somebody();
    const signature = await slow.transfer(to, 5_000_000);
    const seen = async () =>
      Promise.all(
        (['processed', 'confirmed', 'finalized'] as const).map((commitment) =>
          slow.connection.getBalance(to, commitment),
        ),
      );
    const status = async () =>
      (await slow.connection.getSignatureStatus(signature)).value?.confirmationStatus;
    const skip = (slots: number) => slow.ask('localnet_skipSlots', slots);
    expect(await seen()).toEqual([5_000_000, 0, 0]);
    await skip(2);
    expect(await seen()).toEqual([5_000_000, 0, 0]);
    expect(await status()).toBe('processed');
    await skip(1);
    expect(await seen()).toEqual([5_000_000, 5_000_000, 0]);
    expect(await status()).toBe('confirmed');
    await skip(29);
    expect(await seen()).toEqual([5_000_000, 5_000_000, 0]);
    await skip(1);
    expect(await seen()).toEqual([5_000_000, 5_000_000, 5_000_000]);
    expect(await status()).toBe('finalized');
  });
});

describe('the Clock', () => {
  const SYSVAR = new PublicKey('SysvarC1ock11111111111111111111111111111111');
  async function unixSeconds(): Promise<number> {
    const account = await scene.connection.getAccountInfo(SYSVAR);
    return Number(account?.data.readBigInt64LE(32));
  }

  /** It is read between two looks at the machine's clock, which has whole seconds. */
  async function expectOfMachine(): Promise<void> {
    const before = Math.floor(Date.now() / 1_000);
    const seconds = await unixSeconds();
    expect(seconds).toBeGreaterThanOrEqual(before - 1);
    expect(seconds).toBeLessThanOrEqual(Date.now() / 1_000 + 1);
  }

  it("follows the machine's clock", expectOfMachine);

  it('can be frozen, moved and released', async () => {
    const moved = 2_000_000_000;
    await scene.ask('localnet_setClock', { unixMs: moved * 1_000, isRunning: false });
    expect(await unixSeconds()).toBe(moved);
    const signature = await scene.transfer(somebody(), 5_000_000);
    const found = await scene.connection.getTransaction(signature, {
      maxSupportedTransactionVersion: 0,
    });
    expect(found?.blockTime).toBe(moved);
    const released = Date.now();
    await scene.ask('localnet_setClock', { unixMs: released, isRunning: true });
    const before = Math.floor(released / 1_000);
    expect(await unixSeconds()).toBeGreaterThanOrEqual(before);
    expect(await unixSeconds()).toBeLessThanOrEqual(Date.now() / 1_000);
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
