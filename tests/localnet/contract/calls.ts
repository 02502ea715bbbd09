import { base58 } from '@scure/base';
import { SystemProgram, type Transaction } from '@solana/web3.js';
import { TOKEN_PROGRAM } from '../../../programs/client/addresses.ts';
import type { ContractScene } from './scene.ts';

/** A question that is asked of both ledgers. */
export interface ContractCall {
  readonly name: string;
  readonly method: string;
  readonly params: (scene: ContractScene) => unknown[] | Promise<unknown[]>;
  /** Whether the local ledger answers with an error. */
  readonly isRefused: boolean;
}

const CONFIRMED = { commitment: 'confirmed' };
const SYSTEM = SystemProgram.programId.toBase58();
const TOKENS = TOKEN_PROGRAM.toBase58();
const VERSIONED = { ...CONFIRMED, maxSupportedTransactionVersion: 0 };
const BASE64 = { ...CONFIRMED, encoding: 'base64' };
const SENT = { encoding: 'base64', preflightCommitment: 'confirmed' };
/** A slot that no ledger has reached. */
const FAR = 2 ** 48;

const call = (name: string, params: ContractCall['params'] = () => []): ContractCall => {
  const [method = ''] = name.split(' ');
  return { name, method, params, isRefused: false };
};
const refusal: typeof call = (...given) => ({ ...call(...given), isRefused: true });

const pay = ({ payer, to }: ContractScene, lamports: number) =>
  SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports });
const base64 = (transaction: Transaction) => transaction.serialize().toString('base64');

const accounts: ContractCall[] = [
  ...(['base58', 'base64', 'base64+zstd', 'jsonParsed'] as const).flatMap((encoding) => [
    call(`getAccountInfo of a payer in ${encoding}`, ({ payer }) => [
      ...[payer.publicKey.toBase58(), { ...CONFIRMED, encoding }],
    ]),
    call(`getAccountInfo of a mint in ${encoding}`, ({ mint }) => [
      ...[mint.toBase58(), { ...CONFIRMED, encoding }],
    ]),
    // Base58 is for 128 bytes at most.
    (encoding === 'base58' ? refusal : call)(
      `getAccountInfo of a token account in ${encoding}`,
      ({ tokens }) => [tokens.toBase58(), { ...CONFIRMED, encoding }],
    ),
  ]),
  call('getAccountInfo without a configuration', ({ mint }) => [mint.toBase58()]),
  call('getAccountInfo of nothing', ({ absent }) => [absent.toBase58(), BASE64]),
  call('getAccountInfo in part', ({ mint }) => [
    mint.toBase58(),
    { ...BASE64, dataSlice: { offset: 40, length: 10 } },
  ]),
  call('getAccountInfo behind its end', ({ mint }) => [
    mint.toBase58(),
    { ...BASE64, dataSlice: { offset: 1_000, length: 10 } },
  ]),
  call('getAccountInfo of a program', () => [
    ...[TOKENS, { ...BASE64, dataSlice: { offset: 0, length: 4 } }],
  ]),
  call('getMultipleAccounts', ({ mint, absent }) => [[mint.toBase58(), absent.toBase58()], BASE64]),
  call('getBalance', ({ to }) => [to.toBase58(), CONFIRMED]),
  call('getBalance of nothing', ({ absent }) => [absent.toBase58(), CONFIRMED]),
  call('getMinimumBalanceForRentExemption', () => [165]),
  call('getProgramAccounts by bytes', ({ mint }) => [
    TOKENS,
    {
      ...BASE64,
      filters: [{ dataSize: 165 }, { memcmp: { offset: 0, bytes: mint.toBase58() } }],
    },
  ]),
  call('getProgramAccounts with context', ({ mint }) => [
    TOKENS,
    { ...BASE64, withContext: true, filters: [{ memcmp: { offset: 0, bytes: mint.toBase58() } }] },
  ]),
  call('getTokenAccountBalance', ({ tokens }) => [tokens.toBase58(), CONFIRMED]),
  refusal('getTokenAccountBalance of a mint', ({ mint }) => [mint.toBase58(), CONFIRMED]),
  refusal('getTokenAccountBalance of nothing', ({ absent }) => [absent.toBase58(), CONFIRMED]),
  call('getTokenSupply', ({ mint }) => [mint.toBase58(), CONFIRMED]),
  call('getTokenLargestAccounts', ({ mint }) => [mint.toBase58(), CONFIRMED]),
  call('getTokenAccountsByOwner of a mint', ({ payer, mint }) => [
    ...[payer.publicKey.toBase58(), { mint: mint.toBase58() }],
    { ...CONFIRMED, encoding: 'jsonParsed' },
  ]),
  call('getTokenAccountsByOwner of the program', ({ payer }) => [
    ...[payer.publicKey.toBase58(), { programId: TOKENS }, BASE64],
  ]),
  call('getTokenAccountsByDelegate', ({ delegate }) => [
    ...[delegate.toBase58(), { programId: TOKENS }, { ...CONFIRMED, encoding: 'jsonParsed' }],
  ]),
];

const transactions: ContractCall[] = [
  ...(['json', 'jsonParsed'] as const).flatMap((encoding) =>
    (['transfer', 'made', 'failed'] as const).map((which) =>
      call(`getTransaction ${which} in ${encoding}`, (scene) => [
        ...[scene[which], { ...VERSIONED, encoding }],
      ]),
    ),
  ),
  call('getTransaction without versions', ({ transfer }) => [transfer, CONFIRMED]),
  call('getTransaction that is unknown', () => [base58.encode(Buffer.alloc(64, 3)), VERSIONED]),
  call('getSignatureStatuses', ({ transfer, failed }) => [
    [transfer, failed, base58.encode(Buffer.alloc(64, 3))],
    { searchTransactionHistory: true },
  ]),
  call('getSignaturesForAddress', ({ to }) => [to.toBase58(), CONFIRMED]),
  call('getSignaturesForAddress before', ({ to, failed }) => [
    ...[to.toBase58(), { ...CONFIRMED, before: failed }],
  ]),
  call('getSignaturesForAddress until', ({ to, transfer }) => [
    ...[to.toBase58(), { ...CONFIRMED, until: transfer }],
  ]),
  call('getSignaturesForAddress limited', ({ to }) => [
    ...[to.toBase58(), { ...CONFIRMED, limit: 1 }],
  ]),
  call('getSignaturesForAddress of nothing', ({ absent }) => [absent.toBase58(), CONFIRMED]),
  call('simulateTransaction', async (scene) => [
    base64(await scene.sign([pay(scene, 5_000_000)])),
    BASE64,
  ]),
  call('simulateTransaction that fails', async (scene) => [
    base64(await scene.sign([pay(scene, 1e15)])),
    BASE64,
  ]),
  call('simulateTransaction with accounts', async (scene) => [
    base64(await scene.sign([pay(scene, 5_000_000)])),
    { ...BASE64, accounts: { addresses: [scene.to.toBase58()], encoding: 'base64' } },
  ]),
  call('simulateTransaction with an unknown blockhash', async (scene) => [
    base64(await scene.sign([pay(scene, 1)], scene.absent.toBase58())),
    BASE64,
  ]),
  call('simulateTransaction with its blockhash replaced', async (scene) => [
    base64(await scene.sign([pay(scene, 5_000_000)], scene.absent.toBase58())),
    { ...BASE64, replaceRecentBlockhash: true },
  ]),
  refusal('sendTransaction that fails', async (scene) => [
    base64(await scene.sign([pay(scene, 1e15)])),
    SENT,
  ]),
  refusal('sendTransaction with an unknown blockhash', async (scene) => [
    base64(await scene.sign([pay(scene, 1)], scene.absent.toBase58())),
    SENT,
  ]),
  refusal('sendTransaction with a wrong signature', async (scene) => {
    const wire = (await scene.sign([pay(scene, 1)])).serialize();
    wire.writeUInt8(wire.readUInt8(20) ^ 1, 20);
    return [wire.toString('base64'), SENT];
  }),
  refusal('sendTransaction that was sent', async (scene) => {
    const wire = base64(await scene.sign([pay(scene, 5_000_001)]));
    await scene.call('sendTransaction', [wire, SENT]);
    return [wire, SENT];
  }),
  refusal('sendTransaction that is none', () => ['AQID', SENT]),
  refusal('sendTransaction that is too large', () => [
    Buffer.alloc(1_233).toString('base64'),
    SENT,
  ]),
  refusal('sendTransaction with a byte behind it', async (scene) => {
    const wire = (await scene.sign([pay(scene, 1)])).serialize();
    return [Buffer.concat([wire, Buffer.alloc(1)]).toString('base64'), SENT];
  }),
  refusal('sendTransaction in no base64', () => ['!', SENT]),
  call('getFeeForMessage', async (scene) => [
    (await scene.sign([pay(scene, 1)])).serializeMessage().toString('base64'),
    CONFIRMED,
  ]),
];

const ledger: ContractCall[] = [
  call('getLatestBlockhash', () => [CONFIRMED]),
  call('isBlockhashValid of a new one', async (scene) => [
    ...[(await scene.sign([pay(scene, 1)])).recentBlockhash, CONFIRMED],
  ]),
  call('isBlockhashValid of none', ({ absent }) => [absent.toBase58(), CONFIRMED]),
  call('getSlot', () => [CONFIRMED]),
  call('getBlockHeight', () => [CONFIRMED]),
  call('getEpochInfo', () => [CONFIRMED]),
  call('getEpochSchedule'),
  call('getVersion'),
  call('getHealth'),
  call('getIdentity'),
  call('getFirstAvailableBlock'),
  call('getTransactionCount', () => [CONFIRMED]),
  call('getBlockTime', ({ transferSlot }) => [transferSlot]),
  call('getBlock', ({ transferSlot }) => [transferSlot, VERSIONED]),
  call('getBlock with signatures', ({ transferSlot }) => [
    ...[transferSlot, { ...VERSIONED, transactionDetails: 'signatures', rewards: false }],
  ]),
  refusal('getBlock that is not yet', () => [FAR, VERSIONED]),
  call('getInflationGovernor'),
  call('getSupply', () => [{ ...CONFIRMED, excludeNonCirculatingAccountsList: true }]),
];

const refused: ContractCall[] = [
  refusal('getNonsense'),
  refusal('getAccountInfo without an address'),
  refusal('getAccountInfo of no address', () => ['abc']),
  refusal('getAccountInfo in no encoding', () => [SYSTEM, { encoding: 'hex' }]),
  refusal('getAccountInfo at no commitment', () => [SYSTEM, { commitment: 'sure' }]),
  refusal('getBalance of a slot to come', () => [SYSTEM, { ...CONFIRMED, minContextSlot: FAR }]),
  refusal('getSignatureStatuses of no signature', () => [['abc']]),
  refusal('getSignaturesForAddress at processed', () => [SYSTEM, { commitment: 'processed' }]),
  refusal('getTransaction at processed', ({ transfer }) => [transfer, { commitment: 'processed' }]),
  refusal('getMultipleAccounts of too many', () => [Array(101).fill(SYSTEM), CONFIRMED]),
];

export const CALLS: readonly ContractCall[] = [...accounts, ...transactions, ...ledger, ...refused];
