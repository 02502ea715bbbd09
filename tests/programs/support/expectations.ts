import { expect } from '@jest/globals';
import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import type { EscrowErrorName } from '../../../programs/client/index.ts';
import { send, type World } from './world.ts';

/** The transaction fails, and for this reason. Without signers named, everybody signs who has to. */
export async function expectRefusal(
  world: World,
  name: EscrowErrorName,
  instructions: TransactionInstruction | TransactionInstruction[],
  signers?: Keypair[],
): Promise<void> {
  const list = Array.isArray(instructions) ? instructions : [instructions];
  const sent = signers === undefined ? send(world, ...list) : world.chain.send(list, signers);
  await expect(sent).rejects.toThrow(new RegExp(`^${name}$`));
}

/** Moves the Clock on from where it is. */
export async function pass(world: World, seconds: bigint): Promise<void> {
  await world.chain.setTime((await world.chain.now()) + seconds);
}
