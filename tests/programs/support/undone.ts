import { type PublicKey, SystemProgram } from '@solana/web3.js';
import type { World } from './world.ts';

/** What an address holds before anybody used it. */
export const UNUSED = {
  lamports: 0,
  data: new Uint8Array(),
  owner: SystemProgram.programId,
  executable: false,
};

/** Does something, and leaves these accounts as they were. */
export async function undone<Result>(
  { chain }: Pick<World, 'chain'>,
  addresses: readonly PublicKey[],
  act: () => Promise<Result>,
): Promise<Result> {
  const before = await Promise.all(addresses.map((address) => chain.account(address)));
  const result = await act();
  for (const [index, address] of addresses.entries()) {
    chain.setAccount(address, before[index] ?? UNUSED);
  }
  return result;
}
