import { afterAll, expect } from '@jest/globals';
import {
  type Keypair,
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import {
  decodeEventData,
  type EventName,
  type Events,
  PROGRAM_ID,
} from '../../../programs/client/index.ts';
import { callLedger } from '../../../testing/ledgerCall.ts';
import { startLedger, type TestLedger } from '../../support/ledger.ts';
import { addresses, type World } from './world.ts';

let observatory: Promise<TestLedger> | undefined;
afterAll(async () => (await observatory)?.close());

/** An embedded ledger whose Clock stands still, so that a world's own can be written to it. */
async function startObservatory(): Promise<TestLedger> {
  const ledger = await startLedger();
  await callLedger(ledger.connection.rpcEndpoint, 'surfnet_pauseClock', []);
  return ledger;
}

/** Writes the world's accounts at these addresses to the ledger. */
async function copyAccounts(world: World, ledger: TestLedger, names: Set<string>): Promise<void> {
  const copies = [...names].map(async (name) => {
    const account = await world.chain.account(new PublicKey(name));
    if (account?.executable) return;
    const data = Buffer.from(account?.data ?? []).toString('hex');
    const owner = (account?.owner ?? SystemProgram.programId).toBase58();
    const lamports = Number(account?.lamports ?? 0);
    await callLedger(ledger.connection.rpcEndpoint, 'surfnet_setAccount', [
      name,
      { lamports, data, owner },
    ]);
  });
  await Promise.all(copies);
}

/**
 * The events that these instructions would emit now. Solana-bankrun keeps inner instructions to
 * itself; so the embedded ledger, on which the program runs as real clusters run it, simulates the
 * same instructions on the same accounts at the same time.
 */
export async function eventsOf(
  world: World,
  instructions: TransactionInstruction[],
): Promise<{ name: string; data: object }[]> {
  observatory ??= startObservatory();
  const ledger = await observatory;
  const payerKey = world.chain.payer.publicKey;
  const keys = instructions.flatMap((instruction) => instruction.keys.map(({ pubkey }) => pubkey));
  const names = [...keys, payerKey, SYSVAR_CLOCK_PUBKEY].map((key) => key.toBase58());
  await copyAccounts(world, ledger, new Set(names));
  const recentBlockhash = PublicKey.default.toBase58();
  const message = new TransactionMessage({ payerKey, recentBlockhash, instructions });
  const { value } = await ledger.connection.simulateTransaction(
    new VersionedTransaction(message.compileToLegacyMessage()),
    { innerInstructions: true, replaceRecentBlockhash: true, sigVerify: false },
  );
  if (value.err !== null) throw new Error(`the ledger refuses: ${JSON.stringify(value.err)}`);
  return (value.innerInstructions ?? [])
    .flatMap((inner) => inner.instructions)
    .flatMap((call) => {
      const isOwn = 'data' in call && call.programId.equals(PROGRAM_ID);
      const isEvent = isOwn && call.accounts.join() === addresses.eventAuthority.toBase58();
      return isEvent ? [decodeEventData(bs58.decode(call.data))] : [];
    });
}

/** Addresses as text: two keys are equal when they are spelled alike. */
const spelled = (value: unknown): unknown => {
  if (value instanceof PublicKey) return value.toBase58();
  return Array.isArray(value) ? value.map(spelled) : value;
};
const spelledFields = (data: object): object =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, spelled(value)]));

/**
 * Sends the instructions, which succeed, and holds the one event they emit to every field.
 *
 * @param data everything the event says but slot and time, which are the Clock's
 */
export async function expectEvent<Name extends EventName>(
  world: World,
  instructions: TransactionInstruction[],
  signers: Keypair[],
  name: Name,
  data: Omit<Events[Name], 'slot' | 'unixTime'>,
): Promise<void> {
  const events = await eventsOf(world, instructions);
  const clock = await world.chain.account(SYSVAR_CLOCK_PUBKEY);
  const slot = Buffer.from(clock?.data ?? []).readBigUInt64LE();
  const unixTime = await world.chain.now();
  expect(events.map((event) => ({ ...event, data: spelledFields(event.data) }))).toEqual([
    { name, data: spelledFields({ slot, unixTime, ...data }) },
  ]);
  await world.chain.send(instructions, signers);
}
