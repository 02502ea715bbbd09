import { PROGRAM_ID } from '../../../programs/client/index.ts';
import { createRandom, type Random } from '../../../testing/random.ts';
import { answerCases } from './answerCases.ts';
import { bodyCases } from './bodyCases.ts';
import { canonicalCases } from './canonicalCases.ts';
import type { AnyUnitCase, Vectors } from './cases.ts';
import { eventCases } from './eventCases.ts';
import { forgedCases } from './forgedCases.ts';
import { historyCases } from './historyCases.ts';
import { messageCases } from './messageCases.ts';
import { programCases } from './programCases.ts';
import { signatureCases } from './signatureCases.ts';

/** The functions of the format: always the same by the same seed. */
export function unitCases(random: Random): AnyUnitCase[] {
  return [
    ...canonicalCases(random),
    ...messageCases(random),
    ...signatureCases(random),
    ...eventCases(random),
    ...bodyCases(random),
  ];
}

/**
 * Makes the file. What is drawn follows from the seed; the ledgers' keys and times are always new.
 *
 * @throws Error where a snapshot is judged otherwise than the ledger that it was made of
 */
export async function generateVectors(seed: number): Promise<Vectors> {
  const random = createRandom(seed);
  const units = unitCases(random);
  const answers = await answerCases(random);
  const others = [await historyCases(), await programCases()];
  const scenes = [answers, ...others, await forgedCases(0), await forgedCases(1)];
  return {
    version: 1,
    seed,
    program_id: PROGRAM_ID.toBase58(),
    nodes: Object.fromEntries(scenes.map(({ name, node }) => [name, node])),
    cases: [...units, ...answers.units, ...scenes.flatMap(({ cases }) => cases)],
  };
}
