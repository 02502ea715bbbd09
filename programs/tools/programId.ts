import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair, PublicKey } from '@solana/web3.js';
import { checkout } from './artifacts.ts';
import { parseSeeds } from './idl/parse.ts';

/** The only bump that the program takes for a fixed address: programs/escrow/src/seeds.rs. */
const BUMP = 255;
/** One key in 128 will do. That so many draws find none happens once in ten billion times. */
const DRAWS_MAX = 3_000;

const { text, fixed } = parseSeeds(
  readFileSync(join(checkout, 'programs/escrow/src/seeds.rs'), 'utf8'),
);
const fixedSeeds = [...fixed].map((name) => text.get(name.toUpperCase()) ?? name);

const isUsable = (programId: PublicKey, seed: string): boolean =>
  PublicKey.findProgramAddressSync([Buffer.from(seed)], programId)[1] === BUMP;

/**
 * Refuses a program id for which no build can work.
 *
 * @throws Error for text that is no address, or with the seeds whose address has a lower bump
 */
export function requireUsableProgramId(base58: string): void {
  const programId = new PublicKey(base58);
  const unusable = fixedSeeds.filter((seed) => !isUsable(programId, seed));
  if (unusable.length === 0) return;
  throw new Error(
    `${base58} gives another bump than 255 for ${unusable.join(', ')}: take a key that programs/tools/keypair.ts made`,
  );
}

/**
 * Draws keys until one can be a program's: each of its fixed addresses has the bump 255.
 *
 * @param draw where keys come from
 */
export function drawProgramKey(draw: () => Keypair = Keypair.generate): Keypair {
  for (let draws = 0; draws < DRAWS_MAX; draws += 1) {
    const key = draw();
    if (fixedSeeds.every((seed) => isUsable(key.publicKey, seed))) return key;
  }
  throw new Error(`No usable program id in ${DRAWS_MAX} draws: the source of randomness is broken`);
}
