import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { delay } from '../../../common/wait.ts';
import { createBank } from '../../../localnet/bank/bank.ts';
import { RELIABLE } from '../../../localnet/bank/mood.ts';
import { createBlockhashes } from '../../../localnet/bank/sysvars.ts';
import { withEscrow } from '../../../localnet/escrow.ts';
import { PROFILES } from '../../../localnet/profile.ts';
import { createRuntime } from '../../../localnet/runtime/runtime.ts';
import { createTimeline } from '../../../localnet/runtime/timeline.ts';
import { openStore } from '../../../localnet/store/store.ts';
import { getSignatureStatuses } from '../../../programs/client/rpc/methods.ts';
import { HELD_SLOT_MS, type LocalnetScene, openLocalnet, signTransaction } from '../scene.ts';

const FINAL_MS = 150;
const SYSTEM_ACCOUNT_BYTES = 128;
const SENT = { encoding: 'base64', preflightCommitment: 'confirmed' };
const somebody = () => Keypair.generate().publicKey;

const { limits } = PROFILES.mainnet;
/** Its slots pass only where a test skips them. */
let held: LocalnetScene;
beforeAll(async () => {
  // Mainnet's take a thousand transfers.
  Object.assign(PROFILES.mainnet, { limits: { blockUnits: 200_000, accountUnits: 80_000 } });
  const payer = somebody();
  held = await openLocalnet({ profile: 'mainnet', slotMs: HELD_SLOT_MS, ...withEscrow({ payer }) });
});
afterAll(async () => {
  Object.assign(PROFILES.mainnet, { limits });
  await held.close();
});

/** Ends the open block. */
async function endSlot(): Promise<void> {
  await held.ask('localnet_skipSlots', 1);
  await delay(FINAL_MS);
}

const statusesOf = async (signatures: readonly string[]) => {
  const options = { searchTransactionHistory: true };
  return (await getSignatureStatuses(held.rpc, signatures, options)).value;
};

describe("mainnet's time", () => {
  it('has a block final 150 ms after its end, and no sooner', async () => {
    let nowMs = 0;
    const store = openStore(undefined);
    const { slotMs, finalMs = 0, takesUnpaid } = PROFILES.mainnet;
    const timeline = createTimeline({
      ...{ slotMs, anchors: [], slotFloor: 0, wallMs: () => nowMs, monotoneMs: () => nowMs },
    });
    const bank = createBank({
      ...{ runtime: createRuntime(), store, timeline, takesUnpaid },
      blockhashes: createBlockhashes(store.seed, 150, RELIABLE.heightOf),
      lagsMs: { confirmed: finalMs, finalized: finalMs },
      mood: RELIABLE,
    });
    const slot = bank.slot('processed') + 1;
    const written = bank.writeAccounts([]);
    nowMs = slotMs;
    bank.skipSlots(0);
    await written;
    expect(bank.slot('processed')).toBe(slot);
    nowMs = slotMs + FINAL_MS - 1;
    expect([bank.slot('confirmed'), bank.slot('finalized')]).toEqual([slot - 1, slot - 1]);
    nowMs += 1;
    expect([bank.slot('confirmed'), bank.slot('finalized')]).toEqual([slot, slot]);
    await bank.close();
    store.close();
  });

  it('has blockhashes of 150 blocks, at every commitment', async () => {
    for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
      const { context, value } = await held.connection.getLatestBlockhashAndContext(commitment);
      expect(value.lastValidBlockHeight - context.slot).toBe(150);
    }
    const { wire } = await held.sign([transfer(1_000_000)]);
    await held.ask('localnet_skipSlots', 151);
    const { error } = await held.call('sendTransaction', wire.toString('base64'), SENT);
    expect(error?.data?.err).toBe('BlockhashNotFound');
  });
});

it('has the rent of mainnet, which the runtime holds transactions to', async () => {
  const rent = await held.connection.getMinimumBalanceForRentExemption(0);
  expect(rent).toBe(5_080 * SYSTEM_ACCOUNT_BYTES);
  const short = await held.sign([transfer(rent - 1)]);
  const { error } = await held.call('sendTransaction', short.wire.toString('base64'), SENT);
  expect(error?.data?.err).toEqual({ InsufficientFundsForRent: { account_index: 1 } });
  await held.transfer(somebody(), rent);
});

describe("a block's limits", () => {
  /** A transfer that does not limit what it loads counts some 17,900 units. */
  const FITTING = 4;

  /** @param from writes one account of its own in each */
  async function sendMany(from: Keypair, count: number): Promise<string[]> {
    const { blockhash } = await held.connection.getLatestBlockhash('confirmed');
    const sending = Array.from({ length: count }, (_, index) => {
      const wire = encoded([transfer(1 + index, from.publicKey, from)], from, blockhash);
      return held.ask<string>('sendTransaction', wire, SENT);
    });
    return Promise.all(sending);
  }

  it('leave what exceeds them to the next block, and nothing that is refused', async () => {
    await endSlot();
    const signatures = await sendMany(held.payer, FITTING + 2);
    // Its accounts have been written by no other transaction, and the block has room.
    const other = Keypair.generate();
    await held.ask('localnet_fund', other.publicKey.toBase58(), 1_000_000_000);
    const [fitting = ''] = await sendMany(other, 1);
    // What a preflight refuses does not wait for the next one.
    const poor = await held.sign([transfer(2 ** 50)]);
    const { error } = await held.call('sendTransaction', poor.wire.toString('base64'), SENT);
    expect(error?.data?.err).toMatchObject({ InstructionError: [0, { Custom: 1 }] });
    const parts = [signatures.slice(0, FITTING), signatures.slice(FITTING), [fitting]];
    const [first, last, others] = await Promise.all(parts.map(statusesOf));
    const slot = first?.[0]?.slot as number;
    expect(first?.every((one) => one?.slot === slot)).toBe(true);
    expect(last?.every((one) => one === null)).toBe(true);
    expect(others?.[0]?.slot).toBe(slot);
    await endSlot();
    const landed = await statusesOf(signatures.slice(FITTING));
    expect(new Set(landed.map((one) => one?.slot))).toEqual(new Set([slot + 1]));
    expect(landed.every((one) => one?.err === null)).toBe(true);
    expect(await statusesOf([poor.signature])).toEqual([null]);
  });
});

it('a preflight sees what is confirmed; later changes fail in the block', async () => {
  const spender = Keypair.generate();
  await held.ask('localnet_fund', spender.publicKey.toBase58(), 10_000_000);
  await endSlot();
  const spend = async (lamports: number) => {
    const signers = [spender];
    const { wire } = await held.sign([transfer(lamports, somebody(), spender)], { signers });
    return held.call('sendTransaction', wire.toString('base64'), SENT);
  };
  await spend(8_000_000);
  const { result } = await spend(9_000_000);
  await endSlot();
  const failure = { InstructionError: [0, { Custom: 1 }] };
  expect(await statusesOf([result as string])).toMatchObject([{ err: failure }]);
  expect((await spend(9_000_000)).error?.data?.err).toEqual(failure);
});

describe('a transaction whose payer cannot pay', () => {
  async function send(from: Keypair, config: object): Promise<string | undefined> {
    const { blockhash } = await held.connection.getLatestBlockhash('confirmed');
    const wire = encoded([transfer(1, somebody(), from)], from, blockhash);
    const { result } = await held.call('sendTransaction', wire, { ...SENT, ...config });
    return result as string | undefined;
  }

  it('is in a block without a fee, a log or an effect', async () => {
    const signature = (await send(Keypair.generate(), { skipPreflight: true })) as string;
    await endSlot();
    expect(await statusesOf([signature])).toMatchObject([{ err: 'AccountNotFound' }]);
    const found = await held.connection.getTransaction(signature, {
      ...{ commitment: 'confirmed', maxSupportedTransactionVersion: 0 },
    });
    expect(found?.meta).toMatchObject({
      ...{ err: 'AccountNotFound', fee: 0, logMessages: [], innerInstructions: [] },
      ...{ preBalances: [0, 0, 1], postBalances: [0, 0, 1], computeUnitsConsumed: 3_000 },
    });
  });

  it('is refused by a preflight all the same', async () => {
    expect(await send(Keypair.generate(), {})).toBeUndefined();
  });
});

function transfer(
  lamports: number,
  toPubkey = somebody(),
  from = held.payer,
): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey, lamports });
}

function encoded(
  instructions: TransactionInstruction[],
  payer: Keypair,
  blockhash: string,
): string {
  return signTransaction(instructions, [payer], blockhash).wire.toString('base64');
}
