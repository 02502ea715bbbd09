import { Message, MessageV0, PublicKey, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import type { DecodedTransaction } from '../../localnet/wire/transaction.ts';
import type { Random } from '../../testing/random.ts';

const PACKET_BYTES = 1_232;

/** A transaction with random contents that a cluster's decoder takes; its signatures are noise. */
export function randomWire(random: Random): Uint8Array {
  for (;;) {
    const message = random.below(2) === 0 ? randomLegacy(random) : randomV0(random);
    const signatures = Array.from({ length: message.header.numRequiredSignatures }, () =>
      random.bytes(64),
    );
    const wire = serialize(new VersionedTransaction(message, signatures));
    if (wire && wire.length <= PACKET_BYTES) return wire;
  }
}

/** web3.js has no room for more than a packet, and says so by a RangeError. */
function serialize(transaction: VersionedTransaction): Uint8Array | undefined {
  try {
    return transaction.serialize();
  } catch {
    return undefined;
  }
}

function randomLegacy(random: Random): Message {
  const { header, keys, blockhash } = randomHead(random);
  const instructions = randomInstructions(random, keys.length, keys.length).map(
    ({ programIdIndex, accountKeyIndexes, data }) => ({
      programIdIndex,
      accounts: accountKeyIndexes,
      data: bs58.encode(data),
    }),
  );
  return new Message({ header, accountKeys: keys, recentBlockhash: blockhash, instructions });
}

function randomV0(random: Random): MessageV0 {
  const { header, keys, blockhash } = randomHead(random);
  const indexes = (atLeast: number): number[] => [
    ...random.bytes(atLeast + random.below(random.below(8) === 0 ? 40 : 4)),
  ];
  const addressTableLookups = Array.from({ length: random.below(4) }, () => ({
    accountKey: new PublicKey(random.bytes(32)),
    writableIndexes: indexes(1),
    readonlyIndexes: indexes(0),
  }));
  const loaded = addressTableLookups.reduce(
    (sum, { writableIndexes, readonlyIndexes }) =>
      sum + writableIndexes.length + readonlyIndexes.length,
    0,
  );
  return new MessageV0({
    header,
    staticAccountKeys: keys,
    recentBlockhash: blockhash,
    addressTableLookups,
    compiledInstructions: randomInstructions(random, keys.length, keys.length + loaded),
  });
}

function randomHead(random: Random) {
  const count = 2 + random.below(8);
  const numRequiredSignatures = 1 + random.below(Math.min(count - 1, 4));
  const header = {
    numRequiredSignatures,
    numReadonlySignedAccounts: random.below(numRequiredSignatures),
    numReadonlyUnsignedAccounts: random.below(count - numRequiredSignatures + 1),
  };
  const keys = Array.from({ length: count }, () => new PublicKey(random.bytes(32)));
  return { header, keys, blockhash: bs58.encode(random.bytes(32)) };
}

function randomInstructions(random: Random, keys: number, accounts: number) {
  return Array.from({ length: random.below(5) }, () => ({
    programIdIndex: 1 + random.below(keys - 1),
    accountKeyIndexes: Array.from({ length: random.below(6) }, () => random.below(accounts)),
    // Some long enough for a count of two bytes.
    data: random.bytes(random.below(random.below(3) === 0 ? 400 : 20)),
  }));
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

/** Writes a transaction anew from what was read of it. */
export function encodeDecoded(decoded: DecodedTransaction): Buffer {
  const { header, version, signatures, keys, recentBlockhash, instructions, lookups } = decoded;
  const bytes = (part: Uint8Array): Buffer => Buffer.concat([encodeCount(part.length), part]);
  const list = (parts: readonly Uint8Array[]): Buffer =>
    Buffer.concat([encodeCount(parts.length), ...parts]);
  return Buffer.concat([
    list(signatures),
    Buffer.from([
      ...(version === 'legacy' ? [] : [0x80]),
      header.numRequiredSignatures,
      header.numReadonlySignedAccounts,
      header.numReadonlyUnsignedAccounts,
    ]),
    list(keys),
    recentBlockhash,
    list(
      instructions.map(({ programIdIndex, accounts, data }) =>
        Buffer.concat([Buffer.from([programIdIndex]), bytes(accounts), bytes(data)]),
      ),
    ),
    ...(version === 'legacy'
      ? []
      : [
          list(
            lookups.map(({ table, writableIndexes, readonlyIndexes }) =>
              Buffer.concat([table, bytes(writableIndexes), bytes(readonlyIndexes)]),
            ),
          ),
        ]),
  ]);
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
