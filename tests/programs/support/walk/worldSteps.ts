import type { PublicKey } from '@solana/web3.js';
import { addresses } from '../world.ts';
import { pick, type Step, type Walk } from './walk.ts';

/** Mostly a moment, or else one of the deadlines within a job. */
const SECONDS = [...Array.from({ length: 20 }, () => 1), 58, 59, 60, 61, 119, 120, 121];
/** The deadlines beyond a job: arbitration, cooldown, a model's retirement. */
const DAYS = [86_400, 86_401, 172_800, 30 * 86_400];

const advance =
  (choices: readonly number[]): Step =>
  async (walk) => {
    walk.books.now += BigInt(pick(walk, choices) ?? 1);
    await walk.world.chain.setTime(walk.books.now);
  };

/** Freezes a token account or thaws it, as its mint's freeze authority could. */
export async function setFrozen(
  { world, books }: Walk,
  account: { address: PublicKey; mint: PublicKey; owner: PublicKey },
  frozen: boolean,
): Promise<void> {
  const { address, mint, owner } = account;
  const baseUnits = await world.chain.tokens(address);
  world.chain.setToken(address, { mint, owner, baseUnits, frozen });
  if (frozen) books.frozen.add(address.toBase58());
  else books.frozen.delete(address.toBase58());
}

/** The token accounts whose freezing the program has to live with. */
export function freezable({ world, books }: Walk) {
  const { creditMint, stakeMint } = world;
  const owner = addresses.vaultAuthority;
  return [
    { address: addresses.vault, mint: creditMint, owner },
    { address: addresses.treasuryVault, mint: creditMint, owner },
    { address: addresses.stakeVault, mint: stakeMint, owner },
    ...books.workers.map(({ party }) => ({
      ...{ address: party.payout, mint: creditMint, owner: party.authority.publicKey },
    })),
  ];
}

/** Freezes are short: a frozen account is thawed before another one is frozen. */
const freezeOrThaw: Step = async (walk) => {
  const accounts = freezable(walk);
  const frozen = accounts.find(({ address }) => walk.books.frozen.has(address.toBase58()));
  const account = frozen ?? pick(walk, accounts);
  if (account !== undefined) await setFrozen(walk, account, frozen === undefined);
};

export const advanceSeconds = advance(SECONDS);
export const worldSteps: readonly Step[] = [
  advance(DAYS),
  ...Array.from({ length: 3 }, () => freezeOrThaw),
];
