import {
  encodeMessage,
  encodeTransaction,
  type Message,
  type MessageVersion,
  TRANSACTION_BYTES_MAX,
  type TransactionConfig,
} from '../../../programs/client/wire/index.ts';
import type { Random } from '../../../testing/random.ts';

export const VERSIONS: readonly MessageVersion[] = ['legacy', 0, 1];

/** A message with random contents that a cluster takes, and that leaves room for its signatures. */
export function randomMessage(random: Random, version: MessageVersion): Message {
  for (;;) {
    const message = drawMessage(random, version);
    const { numRequiredSignatures } = message.header;
    const size = encodeMessage(message).length + 1 + 64 * numRequiredSignatures;
    if (size <= TRANSACTION_BYTES_MAX[version]) return message;
  }
}

function drawMessage(random: Random, version: MessageVersion): Message {
  const count = 2 + random.below(version === 1 ? 63 : 8);
  const numRequiredSignatures = 1 + random.below(Math.min(count - 1, 4));
  const lookups = version === 0 ? drawLookups(random) : [];
  const loaded = lookups.reduce(
    (sum, { writableIndexes, readonlyIndexes }) =>
      sum + writableIndexes.length + readonlyIndexes.length,
    0,
  );
  return {
    version,
    header: {
      numRequiredSignatures,
      numReadonlySignedAccounts: random.below(numRequiredSignatures),
      numReadonlyUnsignedAccounts: random.below(count - numRequiredSignatures + 1),
    },
    keys: Array.from({ length: count }, () => random.bytes(32)),
    recentBlockhash: random.bytes(32),
    instructions: Array.from({ length: random.below(version === 1 ? 20 : 5) }, () => ({
      programIdIndex: 1 + random.below(count - 1),
      accounts: Uint8Array.from({ length: random.below(6) }, () => random.below(count + loaded)),
      // Some long enough for a count of two bytes.
      data: random.bytes(random.below(random.below(3) === 0 ? 400 : 20)),
    })),
    lookups,
    config: version === 1 ? drawConfig(random) : {},
  };
}

function drawLookups(random: Random): Message['lookups'] {
  const indexes = (atLeast: number): Uint8Array =>
    random.bytes(atLeast + random.below(random.below(8) === 0 ? 40 : 4));
  return Array.from({ length: random.below(4) }, () => ({
    table: random.bytes(32),
    writableIndexes: indexes(1),
    readonlyIndexes: indexes(0),
  }));
}

function drawConfig(random: Random): TransactionConfig {
  const isThere = () => random.below(2) === 0;
  return {
    ...(isThere() && { priorityFeeLamports: Buffer.from(random.bytes(8)).readBigUInt64LE() }),
    ...(isThere() && { computeUnitLimit: Buffer.from(random.bytes(4)).readUInt32LE() }),
    ...(isThere() && { loadedAccountsDataSizeLimit: Buffer.from(random.bytes(4)).readUInt32LE() }),
    ...(isThere() && { heapSize: 1_024 * (32 + random.below(225)) }),
  };
}

/** A transaction with random contents that a cluster's decoder takes; its signatures are noise. */
export function randomWire(random: Random, versions = VERSIONS): Uint8Array {
  const message = randomMessage(random, versions[random.below(versions.length)] ?? 'legacy');
  const signatures = Array.from({ length: message.header.numRequiredSignatures }, () =>
    random.bytes(64),
  );
  return encodeTransaction(message, encodeMessage(message), signatures);
}

/** One to four changes to some bytes: turned, cut out, put in, copied, cut off. */
export function mutate(random: Random, bytes: Uint8Array): Uint8Array {
  let mutated = Buffer.from(bytes);
  for (let times = 1 + random.below(4); times > 0; times -= 1) {
    const at = random.below(mutated.length + 1);
    const length = random.below(1 + random.below(70));
    const [before, after] = [mutated.subarray(0, at), mutated.subarray(at)];
    switch (random.below(6)) {
      case 0:
      case 1:
        if (at < mutated.length) mutated.writeUInt8(random.below(256), at);
        break;
      case 2:
        mutated = Buffer.concat([before, after.subarray(length)]);
        break;
      case 3:
        mutated = Buffer.concat([before, random.bytes(length), after]);
        break;
      case 4:
        mutated = Buffer.concat([before, mutated.subarray(at, at + length), after]);
        break;
      default:
        mutated = Buffer.from(before);
    }
  }
  return mutated;
}

/** Seven bits a byte, lowest first. */
export function encodeCount(count: number): Buffer {
  const bytes: number[] = [];
  let rest = count;
  do {
    const low = rest & 0x7f;
    rest >>= 7;
    bytes.push(rest === 0 ? low : low | 0x80);
  } while (rest !== 0);
  return Buffer.from(bytes);
}
