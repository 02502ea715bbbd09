import { expect } from '@jest/globals';
import {
  type Keypair,
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  type TransactionInstruction,
} from '@solana/web3.js';
import type { EventName, Events } from '../../../programs/client/index.ts';
import type { World } from './world.ts';

/** Sends the instructions, which succeed, and returns the events that they emitted. */
export async function eventsOf(
  { chain }: World,
  instructions: TransactionInstruction[],
  signers: Keypair[] = [],
): Promise<{ name: string; data: object }[]> {
  await chain.send(instructions, signers);
  return chain.lastEvents().map(({ name, data }) => ({ name, data }));
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
  const events = await eventsOf(world, instructions, signers);
  const clock = await world.chain.account(SYSVAR_CLOCK_PUBKEY);
  const slot = Buffer.from(clock?.data ?? []).readBigUInt64LE();
  const unixTime = await world.chain.now();
  expect(events.map((event) => ({ ...event, data: spelledFields(event.data) }))).toEqual([
    { name, data: spelledFields({ slot, unixTime, ...data }) },
  ]);
}
