import { expect } from '@jest/globals';
import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import type { EscrowErrorName } from '../../../programs/client/index.ts';
import type { World } from './world.ts';

/** The transaction fails, and for this reason. */
export async function expectRefusal(
  world: World,
  name: EscrowErrorName,
  instructions: TransactionInstruction | TransactionInstruction[],
  signers: Keypair[] = [],
): Promise<void> {
  const list = Array.isArray(instructions) ? instructions : [instructions];
  await expect(world.chain.send(list, signers)).rejects.toThrow(new RegExp(`^${name}$`));
}

/** Two of these instructions land within so many seconds from now; the third comes too late. */
export async function expectUntil(
  world: World,
  seconds: bigint,
  name: EscrowErrorName,
  [early, last, late]: readonly TransactionInstruction[],
  signers: Keypair[] = [],
): Promise<void> {
  await pass(world, seconds - 1n);
  await world.chain.send([early as TransactionInstruction], signers);
  await pass(world, 1n);
  await world.chain.send([last as TransactionInstruction], signers);
  await pass(world, 1n);
  await expectRefusal(world, name, late as TransactionInstruction, signers);
}

/** Moves the Clock on from where it is. */
export async function pass(world: World, seconds: bigint): Promise<void> {
  await world.chain.setTime((await world.chain.now()) + seconds);
}
