import { zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair, type PublicKey, SystemProgram } from '@solana/web3.js';
import { TOKEN_PROGRAM } from '../../programs/client/addresses.ts';
import { TOKEN_ACCOUNT } from '../../programs/client/token/layout.ts';
import { createMint } from '../../stack/operator.ts';
import { HELD_SLOT_MS, type LocalnetScene, openLocalnet } from './scene.ts';

let scene: LocalnetScene;
let mint: PublicKey;
beforeAll(async () => {
  scene = await openLocalnet();
  const keypair = Keypair.generate();
  await createMint({ rpc: scene.rpc, authority: scene.payer }, keypair);
  mint = keypair.publicKey;
});
afterAll(() => scene.close());

const CONFIRMED = { commitment: 'confirmed' };
const SYSTEM = SystemProgram.programId.toBase58();
const somebody = () => Keypair.generate().publicKey;
const BYTES = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]);

async function write(data = BYTES, owner = somebody()): Promise<string> {
  const address = somebody().toBase58();
  const fields = { data: data.toString('base64'), owner: owner.toBase58() };
  await scene.ask('localnet_setAccount', address, fields);
  return address;
}

describe('an account', () => {
  const read = async (address: string, config: object) => {
    const { value } = await scene.ask<{ value: { data: [string, string] } }>(
      'getAccountInfo',
      address,
      { ...CONFIRMED, ...config },
    );
    return value.data;
  };

  it('is returned in every encoding and in slices', async () => {
    const address = await write();
    expect(await read(address, {})).toBe(base58.encode(BYTES));
    expect(await read(address, { encoding: 'base58' })).toEqual([base58.encode(BYTES), 'base58']);
    expect(await read(address, { encoding: 'base64' })).toEqual([
      BYTES.toString('base64'),
      'base64',
    ]);
    const [compressed] = await read(address, { encoding: 'base64+zstd' });
    expect(zstdDecompressSync(Buffer.from(compressed, 'base64'))).toEqual(BYTES);
    expect(await read(address, { encoding: 'jsonParsed' })).toEqual([
      BYTES.toString('base64'),
      'base64',
    ]);
    const dataSlice = { offset: 6, length: 10 };
    expect(await read(address, { encoding: 'base64', dataSlice })).toEqual([
      BYTES.subarray(6).toString('base64'),
      'base64',
    ]);
    const beyond = { offset: 1_000, length: 2 ** 52 };
    expect(await read(address, { encoding: 'base64', dataSlice: beyond })).toEqual(['', 'base64']);
  });

  it('is found by its program, its size and its bytes', async () => {
    const program = somebody();
    const [one, two] = [await write(BYTES, program), await write(BYTES.subarray(1), program)];
    const find = async (...filters: object[]) => {
      const found = await scene.ask<{ pubkey: string }[]>(
        'getProgramAccounts',
        program.toBase58(),
        { ...CONFIRMED, encoding: 'base64', filters },
      );
      return found.map(({ pubkey }) => pubkey).sort();
    };
    expect(await find()).toEqual([one, two].sort());
    expect(await find({ dataSize: 8 })).toEqual([one]);
    expect(await find({ memcmp: { offset: 0, bytes: [2, 3] } })).toEqual([two]);
    expect(await find({ memcmp: { offset: 7, bytes: '9' } })).toEqual([one]);
    expect(await find({ memcmp: { offset: 2 ** 40, bytes: '9' } })).toEqual([]);
    expect(
      await scene.ask('getProgramAccounts', program.toBase58(), {
        ...CONFIRMED,
        encoding: 'base64',
        withContext: true,
      }),
    ).toMatchObject({ context: { slot: expect.any(Number) }, value: expect.any(Array) });
  });

  it('is returned parsed when it holds tokens, and found by owner and mint', async () => {
    const owner = somebody().toBase58();
    const address = await scene.ask('localnet_mintTokens', mint.toBase58(), owner, 1_500_000);
    const amount = expect.objectContaining({ amount: '1500000' });
    for (const which of [{ mint: mint.toBase58() }, { programId: TOKEN_PROGRAM.toBase58() }]) {
      const config = { ...CONFIRMED, encoding: 'jsonParsed' };
      expect(await scene.ask('getTokenAccountsByOwner', owner, which, config)).toMatchObject({
        value: [
          {
            pubkey: address,
            account: {
              data: {
                parsed: { info: { isNative: false, owner, tokenAmount: amount }, type: 'account' },
                program: 'spl-token',
                space: TOKEN_ACCOUNT.bytes,
              },
            },
          },
        ],
      });
    }
    expect(await scene.ask('getTokenAccountBalance', address, CONFIRMED)).toMatchObject({
      value: amount,
    });
    expect(await scene.ask('getTokenSupply', mint.toBase58(), CONFIRMED)).toMatchObject({
      value: amount,
    });
    expect(await scene.ask('getTokenLargestAccounts', mint.toBase58(), CONFIRMED)).toMatchObject({
      value: [{ address, amount: '1500000' }],
    });
    const { error } = await scene.call('getTokenAccountBalance', mint.toBase58(), CONFIRMED);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('no token') });
  });
});

describe('the signatures of an address', () => {
  it('are listed newest first, between two signatures and up to a limit', async () => {
    // Nothing of it is final before it is listed.
    const slow = await openLocalnet({ slotMs: HELD_SLOT_MS });
    const to = somebody();
    const sent: string[] = [];
    for (let lamports = 5_000_000; lamports < 5_000_004; lamports += 1) {
      await slow.ask('localnet_skipSlots', 1);
      sent.unshift(await slow.transfer(to, lamports));
    }
    const list = async (config: object) => {
      const rows = await slow.ask<{ signature: string; confirmationStatus: string }[]>(
        'getSignaturesForAddress',
        to.toBase58(),
        { ...CONFIRMED, ...config },
      );
      expect(rows.every(({ confirmationStatus }) => confirmationStatus === 'confirmed')).toBe(true);
      return rows.map(({ signature }) => sent.indexOf(signature));
    };
    expect(await list({})).toEqual([0, 1, 2, 3]);
    expect(await list({ limit: 2 })).toEqual([0, 1]);
    expect(await list({ before: sent[1] })).toEqual([2, 3]);
    expect(await list({ until: sent[2] })).toEqual([0, 1]);
    expect(await list({ before: sent[0], until: sent[3], limit: 1 })).toEqual([1]);
    expect(await list({ commitment: 'finalized' })).toEqual([]);
    const unknown = somebody().toBase58();
    expect(await slow.ask('getSignaturesForAddress', unknown)).toEqual([]);
    await slow.close();
  });

  it('have their position in the block, also when one is read', async () => {
    const slow = await openLocalnet({ slotMs: HELD_SLOT_MS, confirmSlots: 1 });
    await slow.ask('localnet_skipSlots', 50);
    const to = somebody();
    const sent: string[] = [];
    for (const lamports of [5_000_000, 5_000_001]) sent.push(await slow.transfer(to, lamports));
    // It mentions another address, and has its position as well.
    await slow.transfer(somebody(), 5_000_000);
    sent.push(await slow.transfer(to, 5_000_002));
    await slow.ask('localnet_skipSlots', 10);
    const rows = await slow.ask<{ signature: string; transactionIndex: number }[]>(
      'getSignaturesForAddress',
      ...[to.toBase58(), CONFIRMED],
    );
    expect(rows.map(({ signature }) => signature)).toEqual(sent.toReversed());
    expect(rows.map(({ transactionIndex }) => transactionIndex)).toEqual([3, 1, 0]);
    for (const { signature, transactionIndex } of rows) {
      const shown = await slow.ask('getTransaction', signature, CONFIRMED);
      expect(shown).toHaveProperty('transactionIndex', transactionIndex);
    }
    await slow.close();
  });

  it('are not listed before the requested context slot is reached', async () => {
    const slot = await scene.connection.getSlot('confirmed');
    for (const [method, ...params] of [
      ['getSignaturesForAddress', SYSTEM],
      ['getAccountInfo', SYSTEM],
      ['getLatestBlockhash'],
      ['getEpochInfo'],
    ] as const) {
      const config = { ...CONFIRMED, minContextSlot: slot + 1_000_000 };
      expect((await scene.call(method, ...params, config)).error).toMatchObject({
        code: -32016,
        message: 'Minimum context slot has not been reached',
        data: { contextSlot: expect.any(Number) },
      });
    }
  });
});

describe('an amount', () => {
  it('above the range of a double is returned exactly, in every encoding', async () => {
    const to = somebody().toBase58();
    const signature = await scene.ask('requestAirdrop', to, 5_000_001);
    const read = async (encoding: string) => {
      const config = { ...CONFIRMED, encoding, maxSupportedTransactionVersion: 0 };
      const response = await fetch(scene.rpcUrl, {
        method: 'POST',
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'getTransaction',
          params: [signature, config],
        }),
      });
      return /"postBalances":\[(\d+)/.exec(await response.text())?.[1] ?? '';
    };
    const amount = await read('json');
    expect(BigInt(amount)).toBeGreaterThan(2n ** 53n);
    expect(await read('jsonParsed')).toBe(amount);
  });
});

describe('a block', () => {
  it('is returned at every level of detail, with its time', async () => {
    const signature = await scene.transfer(somebody(), 5_000_000);
    const { value } = await scene.connection.getSignatureStatus(signature);
    const slot = value?.slot as number;
    const read = (config: object) =>
      scene.ask<Record<string, unknown>>('getBlock', slot, {
        ...CONFIRMED,
        maxSupportedTransactionVersion: 0,
        ...config,
      });
    const block = await read({});
    expect(block).toMatchObject({
      blockHeight: slot,
      parentSlot: slot - 1,
      rewards: [],
      transactions: [{ meta: { err: null, fee: 5_000 }, version: 'legacy' }],
    });
    expect(await read({ transactionDetails: 'signatures' })).toMatchObject({
      signatures: [signature],
    });
    expect(await read({ transactionDetails: 'accounts', rewards: false })).not.toHaveProperty(
      'rewards',
    );
    expect(await read({ transactionDetails: 'none' })).not.toHaveProperty('transactions');
    expect(await scene.ask('getBlockTime', slot)).toBe(block.blockTime);
    expect(await scene.ask('getBlocks', slot, slot + 1, CONFIRMED)).toContain(slot);
    expect((await scene.call('getBlock', slot + 1_000_000, CONFIRMED)).error?.code).toBe(-32004);
  });

  it('links to the one before when its slot is empty', async () => {
    await scene.ask('localnet_skipSlots', 3);
    const slot = (await scene.connection.getSlot('confirmed')) - 1;
    const [before, block] = await Promise.all(
      [slot - 1, slot].map((at) =>
        scene.ask<{ blockhash: string; previousBlockhash: string }>('getBlock', at, CONFIRMED),
      ),
    );
    expect(block?.previousBlockhash).toBe(before?.blockhash);
  });
});

describe('a simulation', () => {
  it('returns the resulting accounts and has no effect', async () => {
    const to = somebody();
    const transfer = SystemProgram.transfer({
      fromPubkey: scene.payer.publicKey,
      toPubkey: to,
      lamports: 5_000_000,
    });
    const { wire } = await scene.sign([transfer], { blockhash: somebody().toBase58() });
    const simulate = (config: object) =>
      scene.call('simulateTransaction', wire.toString('base64'), {
        encoding: 'base64',
        ...config,
      });
    expect((await simulate({})).result).toMatchObject({ value: { err: 'BlockhashNotFound' } });
    const accounts = { addresses: [to.toBase58()], encoding: 'base64' };
    expect((await simulate({ replaceRecentBlockhash: true, accounts })).result).toMatchObject({
      value: {
        accounts: [{ lamports: 5_000_000 }],
        err: null,
        replacementBlockhash: { blockhash: expect.any(String) },
        unitsConsumed: 150,
      },
    });
    expect((await simulate({ replaceRecentBlockhash: true, sigVerify: true })).error?.code).toBe(
      -32602,
    );
    expect(await scene.connection.getBalance(to)).toBe(0);
  });
});

describe('an invalid parameter', () => {
  const KEY = somebody().toBase58();
  it.each<[method: string, params: unknown, words: string]>([
    ['getAccountInfo', [], 'address: '],
    ['getAccountInfo', ['abc'], 'address: is no address: 32 bytes in base58'],
    ['getAccountInfo', [`${KEY}${KEY}${KEY}`], 'address: '],
    ['getAccountInfo', ['0'.repeat(44)], 'address: is no address'],
    ['getAccountInfo', [KEY, { encoding: 'hex' }], 'config.encoding: '],
    ['getAccountInfo', [KEY, { commitment: 'max' }], 'config.commitment: '],
    ['getAccountInfo', [KEY, { dataSlice: { offset: -1, length: 1 } }], 'config.dataSlice.offset'],
    ['getAccountInfo', [KEY, {}, 1], '3 given, of 2 at most'],
    ['getAccountInfo', { address: KEY }, 'by position'],
    ['getMultipleAccounts', [[KEY, 'x']], 'addresses.1: is no address'],
    ['getMultipleAccounts', [Array(101).fill(KEY)], 'addresses: '],
    ['getProgramAccounts', [KEY, { filters: Array(5).fill({ dataSize: 1 }) }], 'config.filters'],
    [
      'getProgramAccounts',
      [KEY, { filters: [{ memcmp: { offset: 0, bytes: '0' } }] }],
      'memcmp wants',
    ],
    ['getMinimumBalanceForRentExemption', [1e9], 'bytes: '],
    ['getMinimumBalanceForRentExemption', [1.5], 'bytes: '],
    ['getSignatureStatuses', [Array(257).fill('1')], 'signatures'],
    ['getSignatureStatuses', [[KEY]], 'signatures.0: is no signature: 64 bytes'],
    ['getSignaturesForAddress', [KEY, { limit: 1_001 }], 'config.limit: '],
    ['getSignaturesForAddress', [KEY, { commitment: 'processed' }], 'config.commitment: '],
    ['getTransaction', ['1'], 'signature: '],
    ['getTransaction', ['1'.repeat(64), { commitment: 'processed' }], 'config.commitment: '],
    ['getTokenAccountsByOwner', [KEY, { mint: 'abc' }], 'whose.mint: is no address'],
    ['getBlock', [-1], 'slot: '],
    ['sendTransaction', ['!', { encoding: 'base64' }], 'transaction: invalid base64 encoding'],
    ['sendTransaction', ['0', {}], 'transaction: invalid base58 encoding'],
    ['sendTransaction', ['A'.repeat(3_000)], 'transaction: too large'],
    ['sendTransaction', [7], 'transaction: '],
    ['requestAirdrop', [KEY, -1], 'lamports: '],
    ['getFeeForMessage', ['AQ=='], 'message: '],
    ['getFeeForMessage', ['no base64!'], 'message: invalid base64'],
    ['isBlockhashValid', ['1'], 'blockhash: '],
    ['getTokenAccountsByOwner', [KEY, {}], 'whose'],
    ['getTokenAccountsByOwner', [KEY, { programId: KEY }], 'unrecognized Token program id'],
    ['getTokenAccountsByOwner', [KEY, { mint: KEY }], 'could not find mint'],
    ['getTokenSupply', [KEY], 'it is no mint'],
    ['getSlotLeaders', [0, 5_001], 'limit: '],
    ['localnet_skipSlots', [-1], 'slots: '],
    ['localnet_setAccount', [KEY, { data: '*' }], 'fields.data: '],
  ])('is refused with its name and the reason: %s %j', async (method, params, words) => {
    const response = await fetch(scene.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { error } = (await response.json()) as { error?: { code: number; message: string } };
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(words) });
  });
});
