import type { Random } from '../../../testing/random.ts';

/** Programs that every ledger has. */
export const PROGRAMS: readonly string[] = [
  '11111111111111111111111111111111',
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Stake11111111111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'AddressLookupTab1e1111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'Config1111111111111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
];

/** What calls can be made of: addresses, signatures and transactions that the ledger knows. */
export interface Known {
  readonly addresses: readonly string[];
  readonly signatures: readonly string[];
  readonly blockhashes: readonly string[];
  readonly transactions: readonly string[];
  readonly messages: readonly string[];
  readonly slots: readonly number[];
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[random.below(items.length)] as Item;
}

const WORDS = [
  ...['processed', 'confirmed', 'finalized', 'recent', 'max', 'all', 'allWithVotes'],
  ...['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed', 'json', 'bytes'],
  ...[
    'full',
    'accounts',
    'signatures',
    'none',
    '',
    'é☃',
    '\u0000',
    '-1',
    'null',
    'A'.repeat(5_000),
  ],
];

const NUMBERS = [
  ...[0, 1, 2, 31, 32, 33, 127, 128, 165, 255, 256, 512, 1_000, 65_536, 1e6, 2 ** 31, 2 ** 32],
  ...[2 ** 53 - 1, 2 ** 53, 2 ** 63, 2 ** 64, 1e308, -1, -(2 ** 53), 0.5, -0, 1e-7],
];

const FIELDS = [
  ...['commitment', 'encoding', 'minContextSlot', 'dataSlice', 'filters', 'withContext'],
  ...['memcmp', 'dataSize', 'tokenAccountState', 'offset', 'length', 'bytes', 'limit', 'before'],
  ...['until', 'mint', 'programId', 'mentions', 'accounts', 'addresses', 'sigVerify', 'identity'],
  ...['replaceRecentBlockhash', 'innerInstructions', 'skipPreflight', 'preflightCommitment'],
  ...['maxSupportedTransactionVersion', 'transactionDetails', 'rewards', 'lamports', 'data'],
  ...['owner', 'executable', 'unixMs', 'isRunning', 'enableReceivedNotification', '__proto__'],
];

/** Any JSON value, often one that means something to some method. */
export function anyValue(random: Random, known: Known, depth = 0): unknown {
  switch (random.below(depth > 2 ? 9 : 12)) {
    case 0:
      return pick(random, known.addresses);
    case 1:
      return pick(random, known.signatures);
    case 2:
      return pick(random, known.transactions);
    case 3:
      return pick(random, NUMBERS);
    case 4:
      return random.below(2) === 0 ? pick(random, known.slots) : random.below(2 ** 32);
    case 5:
      return pick(random, WORDS);
    case 6:
      return pick(random, [null, true, false]);
    case 7:
      return Buffer.from(random.bytes(random.below(100))).toString('base64');
    case 8:
      return Buffer.from(random.bytes(random.below(80))).toString('latin1');
    case 9:
      return Array.from({ length: random.below(6) }, () => anyValue(random, known, depth + 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(5) }, () => [
          pick(random, FIELDS),
          anyValue(random, known, depth + 1),
        ]),
      );
  }
}

/** The same value with one place in it replaced, taken away or doubled. */
export function mutateValue(random: Random, known: Known, value: unknown): unknown {
  const isInner = typeof value === 'object' && value !== null && random.below(5) > 0;
  if (!isInner) return mutateLeaf(random, known, value);
  if (Array.isArray(value)) {
    const at = random.below(value.length + 1);
    const mutated = at < value.length ? [mutateValue(random, known, value[at])] : [];
    switch (random.below(4)) {
      case 0:
        return value.toSpliced(at, 1);
      case 1:
        return value.toSpliced(at, 0, anyValue(random, known));
      default:
        return value.toSpliced(at, 1, ...mutated);
    }
  }
  const entries = Object.entries(value as object);
  const at = random.below(entries.length + 1);
  const [name = pick(random, FIELDS), inner] = entries[at] ?? [];
  return { ...value, [name]: mutateValue(random, known, inner) };
}

function mutateLeaf(random: Random, known: Known, value: unknown): unknown {
  if (typeof value === 'string' && value !== '' && random.below(2) === 0) {
    const at = random.below(value.length);
    return value.slice(0, at) + pick(random, ['', '0', '!', 'zz', '\ud800']) + value.slice(at + 1);
  }
  if (typeof value === 'number' && random.below(2) === 0) {
    return value * pick(random, [-1, 2, 0.5, 1e9]) + pick(random, [-1, 0, 1]);
  }
  return anyValue(random, known);
}

/** Plausible calls of what no other ledger has, and of what only a websocket answers. */
export function callsOfOurs({ addresses, signatures }: Known) {
  const [address, other] = addresses;
  const config = { commitment: 'confirmed', encoding: 'base64' };
  const calls: [method: string, ...params: unknown[]][] = [
    ['localnet_setAccount', address, { lamports: 7, data: 'AAAA', owner: other }],
    ['localnet_setClock', { unixMs: 1_000_000, isRunning: false }],
    ['localnet_setClock', { isRunning: true }],
    ['localnet_skipSlots', 100],
    ['localnet_advanceTime', 5_000],
    ['localnet_fund', address, 1_000_000],
    ['localnet_mintTokens', address, other, 1_000_000],
    ['requestAirdrop', address, 1_000_000],
    ['accountSubscribe', address, config],
    ['programSubscribe', other, { ...config, filters: [{ dataSize: 165 }] }],
    ['logsSubscribe', { mentions: [address] }, { commitment: 'finalized' }],
    ['signatureSubscribe', signatures[0], { enableReceivedNotification: true }],
    ['slotSubscribe'],
    ['rootSubscribe'],
  ];
  return calls.map(([method, ...params]) => ({ method, params }));
}
