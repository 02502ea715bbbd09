import { expect } from '@jest/globals';
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { IDL } from '../../../../programs/client/index.ts';
import type { Random } from '../../../../testing/random.ts';
import { expectConserved } from '../conservation.ts';
import { addresses, send, type World } from '../world.ts';
import { type Books, holdsLock } from './books.ts';

/** A step of the walk: it picks a case, says whether that may happen, and books what it did. */
export type Step = (walk: Walk) => Promise<void>;

/** The program and the books that it is held against. */
export interface Walk {
  readonly world: World;
  readonly random: Random;
  readonly books: Books;
  /** The instructions that succeeded so far. */
  readonly performed: Set<string>;
}

/** One of the items, or undefined when there is none. */
export const pick = <Item>({ random }: Walk, items: readonly Item[]): Item | undefined =>
  items[random.below(items.length)];

/** One of at least one item. */
export const choose = <Item>(walk: Walk, ...items: readonly [Item, ...Item[]]): Item =>
  pick(walk, items) ?? items[0];

/** True once in so many times. */
export const rarely = ({ random }: Walk, times: number): boolean => random.below(times) === 0;

export const isFrozen = ({ books }: Walk, account: PublicKey): boolean =>
  books.frozen.has(account.toBase58());

/**
 * Sends, and checks that the program agrees with the books on whether this may happen.
 *
 * @returns whether it happened
 */
export async function attempt(
  { world, performed }: Walk,
  allowed: boolean,
  instruction: TransactionInstruction,
): Promise<boolean> {
  const name = nameOf(instruction);
  const outcome = await send(world, instruction).then(
    () => 'success',
    (error: Error) => error.message,
  );
  expect({ name, allowed, outcome }).toEqual({
    name,
    allowed: outcome === 'success',
    outcome: allowed ? 'success' : outcome,
  });
  if (allowed) performed.add(name);
  return allowed;
}

const instructionNames = new Map(
  IDL.instructions.map(({ name, discriminator }) => [
    Buffer.from(discriminator).toString('hex'),
    name,
  ]),
);
const nameOf = ({ data }: TransactionInstruction): string =>
  instructionNames.get(data.subarray(0, 8).toString('hex')) ?? '';

/** Nothing was made or lost, and every account says what the books say. */
export async function expectAgreement({ world, books }: Walk): Promise<void> {
  const found = await expectConserved(world, {
    creditAccounts: books.wallets.map(({ party }) => party.creditAccount),
    workers: books.workers.map(({ party }) => party.address),
  });
  const { wallets, workers, treasury } = books;
  expect({ wallets, workers, treasury }).toMatchObject({
    wallets: found.accounts.map((account) => ({
      availableCredits: account.availableCredits,
      lockedCredits: account.lockedCredits,
      owedCredits: account.owedCredits,
      openDisputes: account.openDisputes,
      spentDay: BigInt(account.spentDay),
      spentTodayCredits: account.spentTodayCredits,
    })),
    workers: found.workers.map((worker) => ({
      stakeTokens: worker.stakeTokens,
      unstakingTokens: worker.unstakingTokens,
      unstakeReadyAt: worker.unstakeReadyAt,
      claimableBaseUnits: worker.claimableBaseUnits,
    })),
    treasury: {
      baseUnits: await world.chain.tokens(addresses.treasuryVault),
      unpaidBaseUnits: found.treasury.unpaidBaseUnits,
      exposureBaseUnits: found.treasury.disputedExposureBaseUnits,
      slashedTokens: found.treasury.slashedStakeTokens,
    },
  });
  const locks = books.jobs.map((job) => (holdsLock(job) ? job.lockedCredits : 0n));
  const locked = found.accounts.map((account) => account.lockedCredits);
  expect(sum(locked)).toBe(sum(locks));
}

const sum = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((total, amount) => total + amount, 0n);
