import { describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import {
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
} from '@solana/kit';
import { VersionedTransaction } from '@solana/web3.js';
import {
  CONFIG_FIELDS,
  decodeMessage,
  decodeTransaction,
  encodeMessage,
  encodeTransaction,
  isWritable,
  MalformedTransactionError,
  type Message,
} from '../../../programs/client/wire/index.ts';
import { createRandom } from '../../../testing/random.ts';
import { encodeCount, mutate, randomMessage, randomWire, VERSIONS } from './messages.ts';

/** `WIRE_CASES=9000 npm test -- tests/client/wire/decoding.test.ts` plays as many as wanted. */
const CASES = Number(process.env.WIRE_CASES ?? 25);
const MUTANTS = 4;
/** kit takes some milliseconds for a message. */
const LIMIT_MS = 5_000 + CASES * 100;
const random = createRandom();
const plain = (keys: readonly { toBytes(): Uint8Array }[]) => keys.map((key) => [...key.toBytes()]);
const hex = (bytes: Iterable<number>) => Buffer.from([...bytes]).toString('hex');

type KitMessage = ReturnType<ReturnType<typeof getCompiledTransactionMessageDecoder>['decode']>;
const kit = {
  decode: (bytes: Uint8Array): KitMessage => getCompiledTransactionMessageDecoder().decode(bytes),
  encode: (message: KitMessage) => hex(getCompiledTransactionMessageEncoder().encode(message)),
};

/** What a message says, in the words of kit. */
function inKitsWords(message: Message): object {
  const { version, header, keys, recentBlockhash, instructions, lookups, config } = message;
  const head = {
    version,
    header: {
      numSignerAccounts: header.numRequiredSignatures,
      numReadonlySignerAccounts: header.numReadonlySignedAccounts,
      numReadonlyNonSignerAccounts: header.numReadonlyUnsignedAccounts,
    },
    staticAccounts: keys.map((key) => base58.encode(key)),
    lifetimeToken: base58.encode(recentBlockhash),
  };
  if (version !== 1) {
    return {
      ...head,
      instructions: instructions.map(({ programIdIndex, accounts, data }) => ({
        programAddressIndex: programIdIndex,
        ...(accounts.length > 0 && { accountIndices: [...accounts] }),
        ...(data.length > 0 && { data: Uint8Array.from(data) }),
      })),
      ...(lookups.length > 0 && {
        addressTableLookups: lookups.map(({ table, writableIndexes, readonlyIndexes }) => ({
          lookupTableAddress: base58.encode(table),
          writableIndexes: [...writableIndexes],
          readonlyIndexes: [...readonlyIndexes],
        })),
      }),
    };
  }
  const set = CONFIG_FIELDS.filter(({ name }) => config[name] !== undefined);
  return {
    ...head,
    configMask: set.reduce((mask, field) => mask | field.mask, 0),
    configValues: set.map(({ name }) => ({
      kind: name === 'priorityFeeLamports' ? 'u64' : 'u32',
      value: config[name],
    })),
    numInstructions: instructions.length,
    numStaticAccounts: keys.length,
    instructionHeaders: instructions.map(({ programIdIndex, accounts, data }) => ({
      programAccountIndex: programIdIndex,
      numInstructionAccounts: accounts.length,
      numInstructionDataBytes: data.length,
    })),
    instructionPayloads: instructions.map(({ accounts, data }) => ({
      instructionAccountIndices: [...accounts],
      instructionData: Uint8Array.from(data),
    })),
  };
}

/** @returns undefined for bytes that are refused */
function tryDecode<Decoded>(decode: () => Decoded): Decoded | undefined {
  try {
    return decode();
  } catch (error) {
    const isOurs = error instanceof MalformedTransactionError;
    if (!isOurs && !/^SolanaError|^RangeError/.test(String(error))) throw error;
    return undefined;
  }
}

describe(`a message (seed ${random.seed})`, () => {
  it.each(VERSIONS)(
    'has the same meaning for kit in version %s',
    (version) => {
      for (let count = 0; count < CASES; count += 1) {
        const message = randomMessage(random, version);
        const bytes = encodeMessage(message);
        const theirs = kit.decode(bytes);
        expect(theirs).toEqual(inKitsWords(message));
        expect(kit.encode(theirs)).toBe(hex(bytes));
        expect(hex(encodeMessage(decodeMessage(bytes)))).toBe(hex(bytes));
      }
    },
    LIMIT_MS,
  );
});

describe(`a transaction (seed ${random.seed})`, () => {
  it(
    'has the same meaning for web3.js in the first two versions',
    () => {
      for (let count = 0; count < CASES; count += 1) {
        const wire = randomWire(random, ['legacy', 0]);
        const decoded = decodeTransaction(wire);
        const { message, signatures, version } = VersionedTransaction.deserialize(wire);
        expect(decoded.version).toBe(version);
        expect(decoded.header).toEqual(message.header);
        expect(decoded.signatures.map((one) => [...one])).toEqual(
          signatures.map((one) => [...one]),
        );
        expect(decoded.keys.map((key) => [...key])).toEqual(plain(message.staticAccountKeys));
        expect(hex(decoded.message)).toBe(hex(message.serialize()));
        for (let index = 0; index < decoded.keys.length; index += 1) {
          expect(isWritable(decoded, index)).toBe(message.isAccountWritable(index));
        }
      }
    },
    LIMIT_MS,
  );

  it(
    'is taken, once changed, only where kit takes it, and has one encoding',
    () => {
      let taken = 0;
      for (let count = 0; count < 2 * CASES * MUTANTS; count += 1) {
        const bytes = mutate(random, randomWire(random));
        const decoded = tryDecode(() => decodeTransaction(bytes));
        if (decoded === undefined) continue;
        const { message, signatures } = decoded;
        expect(hex(encodeTransaction(decoded, message, signatures))).toBe(hex(bytes));
        expect(hex(encodeMessage(decoded))).toBe(hex(message));
        expect(kit.decode(Uint8Array.from(message))).toEqual(inKitsWords(decoded));
        taken += 1;
      }
      expect(taken).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );

  it('is refused when a length prefix is longer than necessary', () => {
    const wire = Buffer.from(randomWire(random, ['legacy', 0]));
    const signatures = wire.readUInt8(0);
    const longer = Buffer.concat([Buffer.from([signatures | 0x80, 0]), wire.subarray(1)]);
    expect(() => decodeTransaction(longer)).toThrow(MalformedTransactionError);
  });

  it.each([
    ['more than 16 bits', [0xff, 0xff, 0x04], 'too large'],
    ['four bytes', [0xff, 0xff, 0xff, 0x01], 'too long'],
    ['more items than bytes', [...encodeCount(1_000)], 'ends before its end'],
  ])('is refused with the length prefix %s', (_what, count, words) => {
    expect(() => decodeTransaction(Uint8Array.from([...count, 1, 2, 3]))).toThrow(words);
  });
});

describe('a message of version 1 is refused', () => {
  const whole = randomMessage(random, 1);
  const twice = [...whole.keys.slice(0, -1), whole.keys[0] as Uint8Array];
  const many = Array.from({ length: 65 }, () => random.bytes(32));
  const program = { programIdIndex: 1, accounts: Uint8Array.of(), data: Uint8Array.of() };
  it.each<[string, Partial<Message>, string]>([
    ['whose key stands twice', { keys: twice }, 'a key stands twice'],
    ['of 65 keys', { keys: many, instructions: [] }, '65 keys'],
    ['of 65 instructions', { instructions: Array(65).fill(program) }, '65 instructions'],
    ['with a heap of 31 KiB', { config: { heapSize: 31 * 1_024 } }, 'a heap'],
    ['with a heap of 257 KiB', { config: { heapSize: 257 * 1_024 } }, 'a heap'],
    ['with a heap of 33,000 bytes', { config: { heapSize: 33_000 } }, 'a heap'],
  ])('%s', (_what, change, words) => {
    expect(() => decodeMessage(encodeMessage({ ...whole, ...change }))).toThrow(words);
  });

  it.each([
    [0b01, "half of the config's priorityFeeLamports"],
    [0b10, "half of the config's priorityFeeLamports"],
    [0b100000, 'unknown bits of the config: 32'],
    [0x80000000, 'unknown bits of the config: 2147483648'],
  ])('with the bits %s of its config', (mask, words) => {
    const bytes = encodeMessage({ ...whole, instructions: [], config: {} });
    Buffer.from(bytes.buffer, bytes.byteOffset).writeUInt32LE(mask, 4);
    expect(() => decodeMessage(Buffer.concat([bytes, Buffer.alloc(8)]))).toThrow(words);
  });

  it('behind its signatures, as in the versions before it', () => {
    const signatures = Array.from({ length: whole.header.numRequiredSignatures }, () =>
      random.bytes(64),
    );
    const wire = encodeTransaction({ version: 0 }, encodeMessage(whole), signatures);
    expect(() => decodeTransaction(wire)).toThrow(/before a message of version 1|too large/);
  });
});

it('a message of a version that is not known is refused by its number', () => {
  expect(() => decodeMessage(Uint8Array.of(0x87, 1, 0, 0))).toThrow('version 7 is not supported');
});

it('a number that its field cannot hold is refused instead of wrapped', () => {
  const message = randomMessage(random, 'legacy');
  const wrong = { ...message, header: { ...message.header, numRequiredSignatures: 256 } };
  expect(() => encodeMessage(wrong)).toThrow(RangeError);
});
