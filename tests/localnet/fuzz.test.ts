import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import { METHODS } from '../../localnet/rpc/methods/index.ts';
import { createRandom } from '../support/random.ts';
import { type LedgerProcess, startLedgerProcess } from './ledgerProcess.ts';

/** LOCALNET_FUZZ=20000 for a long run: so many of each kind. */
const CASES = Number(process.env.LOCALNET_FUZZ ?? 1_000);
const BATCH = 200;
const random = createRandom();

let ledger: LedgerProcess;
const payer = Keypair.generate();
beforeAll(async () => {
  ledger = await startLedgerProcess({ LOCALNET_DEVELOPMENT: 'true' });
  await ledger.connection.requestAirdrop(payer.publicKey, 1_000_000_000_000);
});
afterAll(() => ledger.kill());

/** Transactions that would be taken as they are, for as long as their blockhash lives. */
async function makeSound(): Promise<Buffer[]> {
  const { blockhash } = await ledger.connection.getLatestBlockhash();
  return Array.from({ length: 8 }, () => {
    const transaction = new Transaction().add(
      SystemProgram.transfer({
        fromPubkey: payer.publicKey,
        toPubkey: Keypair.generate().publicKey,
        lamports: 1_000_000 + random.below(1_000_000),
      }),
    );
    transaction.feePayer = payer.publicKey;
    transaction.recentBlockhash = blockhash;
    transaction.sign(payer);
    return transaction.serialize();
  });
}

const pick = <Item>(items: readonly Item[]): Item => items[random.below(items.length)] as Item;

/** A value of any kind, often nearly what a method takes. */
function anything(depth = 0): unknown {
  const makers: (() => unknown)[] = [
    () => null,
    () => random.below(2) === 0,
    () => pick([0, 1, -1, 0.5, 2 ** 31, 2 ** 53, -(2 ** 53), 1e300]),
    () => random.below(1_000),
    () => '',
    () => base58.encode(random.bytes(32)),
    () => base58.encode(random.bytes(pick([1, 31, 33, 63, 65, 200]))),
    () => base58.encode(random.bytes(64)),
    () => Buffer.from(random.bytes(random.below(200))).toString('base64'),
    () => pick(['processed', 'confirmed', 'finalized', 'recent', 'base58', 'jsonParsed', 'all']),
    () => String.fromCharCode(...random.bytes(8)),
    () => Array.from({ length: random.below(4) }, () => anything(depth + 1)),
    () =>
      Object.fromEntries(
        Array.from({ length: random.below(5) }, () => [
          pick([
            ...['commitment', 'encoding', 'minContextSlot', 'limit', 'before', 'until', 'filters'],
            ...[
              'dataSlice',
              'memcmp',
              'dataSize',
              'mint',
              'programId',
              'lamports',
              'data',
              'owner',
            ],
            ...[
              'accounts',
              'sigVerify',
              'replaceRecentBlockhash',
              'maxSupportedTransactionVersion',
            ],
            ...[
              'transactionDetails',
              'offset',
              'length',
              'bytes',
              'addresses',
              'unixMs',
              'mentions',
            ],
          ]),
          anything(depth + 1),
        ]),
      ),
  ];
  return pick(depth > 2 ? makers.slice(0, -2) : makers)();
}

function mutated(sound: readonly Buffer[]): Buffer {
  const wire = Buffer.from(pick(sound));
  for (let changes = random.below(4); changes >= 0; changes -= 1) {
    const at = random.below(wire.length);
    wire.writeUInt8(pick([0, 0xff, 0x80, 0x7f, wire.readUInt8(at) ^ (1 << random.below(8))]), at);
  }
  const cut = random.below(4);
  if (cut === 0) return wire.subarray(0, random.below(wire.length));
  return cut === 1 ? Buffer.concat([wire, random.bytes(random.below(40))]) : wire;
}

/** Every call is answered, by a result or by an error that is no fault of the ledger's. */
async function expectAnswers(calls: readonly object[]): Promise<void> {
  for (let from = 0; from < calls.length; from += BATCH) {
    const batch = calls
      .slice(from, from + BATCH)
      .map((call, id) => ({ jsonrpc: '2.0', id, ...call }));
    const response = await fetch(ledger.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(batch),
    });
    const answers = (await response.json()) as { id: number; error?: { code: number } }[];
    const faults = answers.flatMap(({ id, error }) =>
      error && error.code === -32603 ? [{ call: batch[id], error }] : [],
    );
    expect(faults).toEqual([]);
    expect(answers).toHaveLength(batch.length);
  }
}

function sending(wire: Uint8Array): object {
  const replaceRecentBlockhash = random.below(2) === 0;
  const skipPreflight = random.below(2) === 0;
  return {
    method: pick(['sendTransaction', 'simulateTransaction']),
    params: [
      Buffer.from(wire).toString('base64'),
      { encoding: 'base64', commitment: 'confirmed', skipPreflight, replaceRecentBlockhash },
    ],
  };
}

describe(`a ledger that is asked nonsense (seed ${random.seed})`, () => {
  // What moves its clocks by days is asked for, and would make all else expire.
  const methods = [...METHODS.keys()].filter((name) => !/advanceTime|skipSlots/.test(name));

  it.each(methods)('answers %s, whatever its parameters are', async (method) => {
    const share = Math.ceil(CASES / methods.length);
    await expectAnswers(
      Array.from({ length: share }, () => ({
        method,
        params: Array.from({ length: random.below(4) }, () => anything()),
      })),
    );
  });

  it(
    'answers transactions of random bytes',
    async () => {
      await expectAnswers(
        Array.from({ length: CASES }, () => sending(random.bytes(random.below(1_400)))),
      );
    },
    60_000 + CASES * 20,
  );

  it(
    'answers transactions that were changed on their way',
    async () => {
      for (let cases = 0; cases < CASES; cases += BATCH) {
        const sound = await makeSound();
        await expectAnswers(Array.from({ length: BATCH }, () => sending(mutated(sound))));
      }
    },
    60_000 + CASES * 20,
  );

  it('goes on as before', async () => {
    const { publicKey } = Keypair.generate();
    await ledger.connection.requestAirdrop(publicKey, 5_000_000);
    expect(await ledger.connection.getBalance(publicKey)).toBe(5_000_000);
  });
});
