import { PROGRAM_ID } from '../../../programs/client/index.ts';
import {
  REQUEST_FIELDS,
  RESPONSES_FIELDS,
} from '../../../programs/client/verify/answer/requestFields.ts';
import { createRandom, type Random } from '../../../testing/random.ts';
import { answerCases } from './answerCases.ts';
import { canonicalCases } from './canonicalCases.ts';
import type { AnyUnitCase, Vectors } from './cases.ts';
import { COMMITTED } from './committed.ts';
import { endedCases } from './endedCases.ts';
import { eventCases } from './eventCases.ts';
import { historyCases } from './historyCases.ts';
import { messageCases } from './messageCases.ts';
import { programCases } from './programCases.ts';
import { titleOf } from './runCase.ts';
import { signatureCases } from './signatureCases.ts';

/** The functions of the format: always the same by the same seed. */
export function unitCases(random: Random): AnyUnitCase[] {
  return [
    ...canonicalCases(random),
    ...messageCases(random),
    ...signatureCases(random),
    ...eventCases(random),
  ];
}

/**
 * Cases of which nothing is drawn, such as broken answers of a few words. They are written into the
 * file itself, a line each, and stay as they are.
 */
function writtenCases(made: readonly AnyUnitCase[]): AnyUnitCase[] {
  const titles = new Set(made.map(titleOf));
  return COMMITTED.cases.flatMap((one) =>
    one.kind === 'job' || titles.has(titleOf(one)) ? [] : [one],
  );
}

/**
 * Makes the file. What is drawn follows from the seed; the ledgers' keys and times are always new.
 *
 * @throws Error where a rule says something else of a snapshot than its condition
 */
export async function generateVectors(seed: number): Promise<Vectors> {
  const random = createRandom(seed);
  const formats = unitCases(random);
  const scenes = await Promise.all([
    answerCases(random),
    historyCases(),
    programCases(),
    endedCases(0),
    endedCases(1),
  ]);
  const units = [...formats, ...scenes[0].units];
  return {
    version: 1,
    seed,
    program_id: PROGRAM_ID.toBase58(),
    request_fields: REQUEST_FIELDS,
    responses_fields: RESPONSES_FIELDS,
    nodes: Object.fromEntries(scenes.map(({ name, node }) => [name, node])),
    cases: [...units, ...writtenCases(units), ...scenes.flatMap(({ cases }) => cases)],
  };
}
