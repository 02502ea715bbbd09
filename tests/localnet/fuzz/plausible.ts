import type { Random } from '../../../testing/random.ts';
import { anyValue, type Known, pick } from './values.ts';

type Make = (random: Random, known: Known) => unknown;

const address: Make = (random, { addresses }) => pick(random, addresses);
const signature: Make = (random, { signatures }) => pick(random, signatures);
const slot: Make = (random, { slots }) => pick(random, slots);
const transaction: Make = (random, { transactions }) => pick(random, transactions);
const some: Make = (random) => random.below(1_000_000);
const list =
  (of: Make): Make =>
  (random, known) =>
    Array.from({ length: random.below(5) }, () => of(random, known));
const object =
  (fields: Record<string, Make>): Make =>
  (random, known) =>
    Object.fromEntries(
      Object.entries(fields)
        .filter(() => random.below(2) === 0)
        .map(([name, make]) => [name, make(random, known)]),
    );
const either =
  (...makes: Make[]): Make =>
  (random, known) =>
    pick(random, makes)(random, known);
const word =
  (...words: unknown[]): Make =>
  (random) =>
    pick(random, words);

const flag = word(true, false, null);
const reading = { commitment: word('processed', 'confirmed', 'finalized'), minContextSlot: slot };
const accountShape = {
  ...reading,
  encoding: word('base58', 'base64', 'base64+zstd', 'jsonParsed'),
  dataSlice: object({ offset: some, length: some }),
};
const memcmp = object({ offset: some, bytes: word('1', '2', [1, 2]), encoding: word('base58') });
const programShape = {
  ...accountShape,
  filters: list(either(object({ dataSize: word(0, 82, 165) }), object({ memcmp }))),
  withContext: flag,
};
const transactionShape = {
  encoding: word('json', 'jsonParsed', 'base64', 'base58'),
  commitment: word('confirmed', 'finalized'),
  maxSupportedTransactionVersion: word(0, 1),
  transactionDetails: word('full', 'accounts', 'signatures', 'none'),
  rewards: flag,
};
const whose = either(object({ mint: address }), object({ programId: address }));
const config = object(reading);

/** Parameters that a method might well take; methods that are not here take a configuration. */
const PLAUSIBLE: Record<string, readonly Make[]> = {
  getAccountInfo: [address, object(accountShape)],
  getMultipleAccounts: [list(address), object(accountShape)],
  getProgramAccounts: [address, object(programShape)],
  getBalance: [address, config],
  getMinimumBalanceForRentExemption: [some, config],
  getTokenAccountBalance: [address, config],
  getTokenSupply: [address, config],
  getTokenLargestAccounts: [address, config],
  getTokenAccountsByOwner: [address, whose, object(accountShape)],
  getTokenAccountsByDelegate: [address, whose, object(accountShape)],
  sendTransaction: [transaction, object({ encoding: word('base64'), skipPreflight: flag })],
  simulateTransaction: [
    transaction,
    object({
      ...reading,
      encoding: word('base64'),
      sigVerify: flag,
      replaceRecentBlockhash: flag,
      innerInstructions: flag,
      accounts: object({ addresses: list(address), encoding: word('base64', 'jsonParsed') }),
    }),
  ],
  getTransaction: [signature, object(transactionShape)],
  getSignatureStatuses: [list(signature), object({ searchTransactionHistory: flag })],
  getSignaturesForAddress: [address, object({ before: signature, until: signature, limit: some })],
  requestAirdrop: [address, some, config],
  getBlock: [slot, object(transactionShape)],
  getBlockTime: [slot],
  getBlocks: [slot, slot, config],
  getBlocksWithLimit: [slot, word(0, 1, 500), config],
  isBlockhashValid: [(random, { blockhashes }) => pick(random, blockhashes), config],
  getFeeForMessage: [(random, { messages }) => pick(random, messages), config],
  getSlotLeaders: [slot, word(1, 10)],
  getRecentPrioritizationFees: [list(address)],
  getInflationReward: [list(address)],
  localnet_setAccount: [
    address,
    object({ lamports: some, data: word('', 'AAAA'), owner: address, executable: flag }),
  ],
  localnet_setClock: [object({ unixMs: some, isRunning: flag })],
  localnet_skipSlots: [word(0, 1, 100)],
  localnet_advanceTime: [word(0, 1, 5_000)],
  localnet_fund: [address, some],
  localnet_mintTokens: [address, address, some],
  accountSubscribe: [address, object(accountShape)],
  programSubscribe: [address, object(programShape)],
  logsSubscribe: [either(word('all'), object({ mentions: list(address) })), config],
  signatureSubscribe: [signature, object({ ...reading, enableReceivedNotification: flag })],
  slotSubscribe: [],
  rootSubscribe: [],
};

/** Parameters for a method: such as it wants, or, now and then, anything. */
export function plausibleParams(random: Random, known: Known, method: string): unknown[] {
  if (random.below(10) === 0) {
    return Array.from({ length: random.below(4) }, () => anyValue(random, known));
  }
  const makes = PLAUSIBLE[method] ?? [config];
  return makes
    .slice(0, makes.length - (random.below(4) === 0 ? 1 : 0))
    .map((make) => make(random, known));
}
