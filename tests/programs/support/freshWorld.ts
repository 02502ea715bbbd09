import { PublicKey } from '@solana/web3.js';
import { startChain } from '../../../testing/chain.ts';
import type { Chain, ChainAccount } from '../../../testing/kit/chain.ts';
import { openEscrow } from '../../../testing/kit/startEscrow.ts';
import { UNUSED } from './undone.ts';
import { type World, worldOf } from './world.ts';

let shared: ReturnType<typeof openShared> | undefined;

/**
 * The same as `createWorld()`, but quicker: one world for all who ask, each time put back to its
 * beginning. So nothing else may use it at the same time.
 */
export async function freshWorld(): Promise<World> {
  shared ??= openShared();
  const { cast, restore } = await shared;
  await restore();
  // Another object each time, since ids are made for each chain.
  return worldOf({ ...cast, chain: { ...cast.chain } });
}

async function openShared() {
  const chain = await startChain();
  const before = new Map<string, Promise<ChainAccount | null>>();
  const cast = await openEscrow(
    noteWrites(chain, (address) => {
      const name = address.toBase58();
      // The account is read at once, before it is written.
      if (!before.has(name)) before.set(name, chain.account(address));
    }),
  );
  const now = await chain.now();
  before.clear();
  const restore = async (): Promise<void> => {
    for (const [name, account] of before) {
      chain.setAccount(new PublicKey(name), (await account) ?? UNUSED);
    }
    before.clear();
    await chain.setTime(now);
  };
  return { cast, restore };
}

/** The same chain, which says of each account that it may be written now. */
const noteWrites = (chain: Chain, note: (address: PublicKey) => void): Chain => {
  const noting =
    <Rest extends unknown[]>(write: (address: PublicKey, ...rest: Rest) => void) =>
    (address: PublicKey, ...rest: Rest): void => {
      note(address);
      write(address, ...rest);
    };
  return {
    ...chain,
    setAccount: noting(chain.setAccount),
    fund: noting(chain.fund),
    setMint: noting(chain.setMint),
    setToken: noting(chain.setToken),
    send(instructions, signers) {
      note(chain.payer.publicKey);
      for (const { pubkey, isWritable } of instructions.flatMap(({ keys }) => keys)) {
        if (isWritable) note(pubkey);
      }
      return chain.send(instructions, signers);
    },
  };
};
