import { base58 } from '@scure/base';
import {
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
} from '@solana/web3.js';
import { delay } from '../../../common/wait.ts';
import { TOKEN_PROGRAM } from '../../../programs/client/addresses.ts';
import {
  associatedTokenAddress,
  mintInitialize,
  tokenAccountCreate,
  tokenMintTo,
} from '../../../programs/client/token/instructions.ts';
import { MINT } from '../../../programs/client/token/layout.ts';
import { tokenApprove } from '../../../testing/ledger/tokens.ts';
import type { Target } from './target.ts';

/** A node's answer, as it came. */
export interface Answer {
  readonly result?: unknown;
  readonly error?: unknown;
}

const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const POLL_MS = 20;
const FUNDS = 10_000_000_000;

/** The same on both ledgers, and new at each run. */
export type ContractKeys = ReturnType<typeof newKeys>;

export function newKeys() {
  const somebody = () => Keypair.generate().publicKey;
  return {
    payer: Keypair.generate(),
    mintKeys: Keypair.generate(),
    to: somebody(),
    absent: somebody(),
    delegate: somebody(),
  };
}

export type ContractScene = Awaited<ReturnType<typeof openScene>>;

/** The same things on every ledger: somebody who pays, a mint, token accounts, transactions. */
export async function openScene(
  { rpcUrl }: Pick<Target, 'rpcUrl'>,
  { payer, mintKeys, to, absent, delegate }: ContractKeys,
) {
  const mint = mintKeys.publicKey;
  const owner = payer.publicKey;
  const tokens = associatedTokenAddress(mint, owner);

  async function call(method: string, params: unknown[] = []): Promise<Answer> {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as Answer;
    return error === undefined ? { result } : { error };
  }

  async function newBlockhash(): Promise<string> {
    const { result } = await call('getLatestBlockhash', [{ commitment: 'confirmed' }]);
    return (result as { value: { blockhash: string } }).value.blockhash;
  }

  /** Signed by the payer. */
  async function sign(instructions: TransactionInstruction[], blockhash?: string) {
    const transaction = new Transaction().add(...instructions);
    transaction.feePayer = payer.publicKey;
    transaction.recentBlockhash = blockhash ?? (await newBlockhash());
    transaction.partialSign(payer);
    return transaction;
  }

  /** @returns its signature and slot, once it is confirmed */
  async function confirm(signature: string): Promise<{ signature: string; slot: number }> {
    for (;;) {
      const { result } = await call('getSignatureStatuses', [[signature]]);
      const { value } = result as {
        value: ({ confirmationStatus: string; slot: number } | null)[];
      };
      const [status] = value;
      if (status && status.confirmationStatus !== 'processed') return { signature, ...status };
      await delay(POLL_MS);
    }
  }

  async function send(transaction: Transaction, skipPreflight = false) {
    const config = { encoding: 'base64', preflightCommitment: 'confirmed', skipPreflight };
    const wire = transaction.serialize().toString('base64');
    const { error } = await call('sendTransaction', [wire, config]);
    if (error) throw new Error(`the scene could not be set: ${JSON.stringify(error)}`);
    return confirm(base58.encode(transaction.signature as Buffer));
  }

  const { result: funding } = await call('requestAirdrop', [payer.publicKey.toBase58(), FUNDS]);
  await confirm(funding as string);
  const memo = new TransactionInstruction({
    keys: [],
    programId: new PublicKey(MEMO),
    data: Buffer.from('hello'),
  });
  const pay = (lamports: number) =>
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports });
  const transfer = await send(await sign([pay(5_000_000), memo]));
  const rent = await call('getMinimumBalanceForRentExemption', [MINT.bytes]);
  const create = tokenAccountCreate({ payer: owner, owner, mint });
  // The call of most wallets, which fails where there is an account.
  create.data = Buffer.alloc(0);
  const make = await sign([
    SystemProgram.createAccount({
      fromPubkey: payer.publicKey,
      newAccountPubkey: mint,
      space: MINT.bytes,
      lamports: Number(rent.result),
      programId: TOKEN_PROGRAM,
    }),
    mintInitialize({ mint, authority: owner, decimals: 6 }),
    create,
    tokenMintTo({ mint, account: tokens, authority: owner, baseUnits: 1_500_000n }),
    tokenApprove({ account: tokens, delegate, owner, baseUnits: 500_000n }),
  ]);
  make.partialSign(mintKeys);
  const made = await send(make);
  const failed = await send(await sign([pay(1e15)]), true);
  return {
    ...{ payer, to, absent, mint, tokens, delegate, call, sign },
    // Signatures: a transfer, token accounts with calls within calls, a transfer that failed.
    transfer: transfer.signature,
    made: made.signature,
    failed: failed.signature,
    transferSlot: transfer.slot,
    /** What the addresses are called in both answers. */
    names: new Map(
      Object.entries({ payer: payer.publicKey, to, absent, mint, tokens, delegate }).map(
        ([name, address]) => [address.toBase58(), `<${name}>`],
      ),
    ),
  };
}
