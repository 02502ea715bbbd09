import { createHash } from 'node:crypto';
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  SystemProgram,
  Transaction,
} from '@solana/web3.js';

/** What a ledger answered to each call, by the call's name: a result, or an error with its code. */
export type Answers = ReadonlyMap<string, unknown>;

const CONFIRMED = { commitment: 'confirmed' };

/**
 * Makes the same accounts and transactions on any ledger with a faucet, and asks the same questions
 * about them.
 *
 * @param run has keys of its own, since a validator may have been asked before
 */
export async function collectAnswers(
  { rpcUrl, wsUrl }: { rpcUrl: string; wsUrl: string },
  run: number,
): Promise<Answers> {
  const connection = new Connection(rpcUrl, { commitment: 'confirmed', wsEndpoint: wsUrl });
  const keyAt = (index: number) =>
    Keypair.fromSeed(createHash('sha256').update(`contract ${run} ${index}`).digest());
  const [payer, mint, to] = [keyAt(1), keyAt(2), keyAt(3).publicKey];
  const airdrop = await connection.requestAirdrop(payer.publicKey, 10 * LAMPORTS_PER_SOL);
  await untilConfirmed(connection, airdrop);
  const tokens = getAssociatedTokenAddressSync(mint.publicKey, payer.publicKey);

  async function send(build: (transaction: Transaction) => void, signers: Keypair[] = []) {
    const transaction = new Transaction();
    build(transaction);
    transaction.feePayer = payer.publicKey;
    transaction.recentBlockhash = (await connection.getLatestBlockhash()).blockhash;
    transaction.sign(payer, ...signers);
    return transaction.serialize();
  }

  const made = await send(
    (transaction) =>
      transaction.add(
        SystemProgram.createAccount({
          fromPubkey: payer.publicKey,
          newAccountPubkey: mint.publicKey,
          lamports: 10_000_000,
          space: MINT_SIZE,
          programId: TOKEN_PROGRAM_ID,
        }),
        createInitializeMint2Instruction(mint.publicKey, 6, payer.publicKey, null),
        createAssociatedTokenAccountIdempotentInstruction(
          ...([payer.publicKey, tokens, payer.publicKey, mint.publicKey] as const),
        ),
        createMintToInstruction(mint.publicKey, tokens, payer.publicKey, 1_500_000),
        SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 5_000_000 }),
      ),
    [mint],
  );
  const signature = await connection.sendRawTransaction(made);
  await untilConfirmed(connection, signature);
  const tooMuch = await send((transaction) =>
    transaction.add(
      SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 1e15 }),
    ),
  );
  const wrong = Buffer.from(made);
  wrong.writeUInt8(wrong.readUInt8(10) ^ 1, 10);
  const base64 = (wire: Uint8Array) => Buffer.from(wire).toString('base64');
  const owner = payer.publicKey.toBase58();
  const account = tokens.toBase58();
  const nobody = PublicKey.default.toBase58().replace(/.$/, '2');

  const calls: [name: string, method: string, params: unknown[]][] = [
    ['an account in base64', 'getAccountInfo', [account, { encoding: 'base64', ...CONFIRMED }]],
    ['an account in words', 'getAccountInfo', [account, { encoding: 'jsonParsed', ...CONFIRMED }]],
    [
      'a mint in words',
      'getAccountInfo',
      [mint.publicKey.toBase58(), { encoding: 'jsonParsed', ...CONFIRMED }],
    ],
    [
      'a part of an account',
      'getAccountInfo',
      [account, { encoding: 'base64', dataSlice: { offset: 64, length: 8 }, ...CONFIRMED }],
    ],
    ['no account', 'getAccountInfo', [nobody, { encoding: 'base64', ...CONFIRMED }]],
    [
      'several accounts',
      'getMultipleAccounts',
      [[account, nobody, to.toBase58()], { encoding: 'base64', ...CONFIRMED }],
    ],
    [
      'accounts by filter',
      'getProgramAccounts',
      [
        TOKEN_PROGRAM_ID.toBase58(),
        {
          encoding: 'base64',
          filters: [{ dataSize: 165 }, { memcmp: { offset: 32, bytes: owner } }],
          ...CONFIRMED,
        },
      ],
    ],
    ['a balance', 'getBalance', [to.toBase58(), CONFIRMED]],
    ['rent', 'getMinimumBalanceForRentExemption', [165]],
    ['a token balance', 'getTokenAccountBalance', [account, CONFIRMED]],
    ['a token supply', 'getTokenSupply', [mint.publicKey.toBase58(), CONFIRMED]],
    [
      'token accounts of an owner',
      'getTokenAccountsByOwner',
      [owner, { mint: mint.publicKey.toBase58() }, { encoding: 'jsonParsed', ...CONFIRMED }],
    ],
    [
      'the largest token accounts',
      'getTokenLargestAccounts',
      [mint.publicKey.toBase58(), CONFIRMED],
    ],
    [
      'a transaction',
      'getTransaction',
      [signature, { encoding: 'json', maxSupportedTransactionVersion: 0, ...CONFIRMED }],
    ],
    [
      'a transaction in base64',
      'getTransaction',
      [signature, { encoding: 'base64', maxSupportedTransactionVersion: 0, ...CONFIRMED }],
    ],
    [
      'statuses',
      'getSignatureStatuses',
      [[signature, signature], { searchTransactionHistory: true }],
    ],
    ['signatures of an address', 'getSignaturesForAddress', [account, CONFIRMED]],
    [
      'a fee',
      'getFeeForMessage',
      [base64(Transaction.from(tooMuch).serializeMessage()), CONFIRMED],
    ],
    [
      'a simulation',
      'simulateTransaction',
      [base64(tooMuch), { encoding: 'base64', ...CONFIRMED }],
    ],
    [
      'a refused preflight',
      'sendTransaction',
      [base64(tooMuch), { encoding: 'base64', preflightCommitment: 'confirmed' }],
    ],
    [
      'a wrong signature',
      'sendTransaction',
      [base64(wrong), { encoding: 'base64', preflightCommitment: 'confirmed' }],
    ],
    [
      'bytes that are no transaction',
      'sendTransaction',
      [base64(made.subarray(0, 50)), { encoding: 'base64' }],
    ],
    ['what is no base64', 'sendTransaction', ['???', { encoding: 'base64' }]],
    ['an unknown method', 'getNothing', []],
    ['an address that is none', 'getBalance', ['nobody']],
    ['a missing parameter', 'getBalance', []],
    ['an unreached slot', 'getBalance', [owner, { ...CONFIRMED, minContextSlot: 1e12 }]],
    ['a blockhash’s validity', 'isBlockhashValid', [PublicKey.default.toBase58(), CONFIRMED]],
    ['the epoch', 'getEpochInfo', [CONFIRMED]],
    ['the schedule of epochs', 'getEpochSchedule', []],
    ['a young blockhash', 'getLatestBlockhash', [CONFIRMED]],
    ['the health', 'getHealth', []],
  ];
  const answers = new Map<string, unknown>();
  for (const [name, method, params] of calls) {
    answers.set(name, await ask(rpcUrl, method, params));
  }
  return answers;
}

async function ask(rpcUrl: string, method: string, params: unknown[]): Promise<unknown> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as {
    result?: unknown;
    error?: { code: number; message: string; data?: unknown };
  };
  // Words may differ; numbers and what programs read of an error may not.
  return error ? { error: { code: error.code, data: error.data ?? null } } : { result };
}

async function untilConfirmed(connection: Connection, signature: string): Promise<void> {
  for (let round = 0; round < 500; round += 1) {
    const { value } = await connection.getSignatureStatus(signature);
    if (value?.err) throw new Error(`${signature}: ${JSON.stringify(value.err)}`);
    if (value && value.confirmationStatus !== 'processed') return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${signature} was not confirmed`);
}
