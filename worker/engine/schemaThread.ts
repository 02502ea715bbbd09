import { parentPort } from 'node:worker_threads';
import { generateSync, type JsonSchema } from 'json-schema-faker';
import { compileSchema } from '../../common/contracts/jsonSchema.ts';

/** The entry of the thread that looks for one value of a schema. */

export interface SchemaToMeet {
  schema: unknown;
  seed: number;
}

/** The generator does not heed every keyword, so the validator may refuse a value. */
const SEEDS_MAX = 8;
/** Short values: nothing that is not required, and lists of one item where their length is free. */
const SHORT = { optionalsProbability: 0, maxDefaultItems: 1, maxDepth: 50 };
parentPort?.on('message', (request: SchemaToMeet) => parentPort?.postMessage(answer(request)));
parentPort?.postMessage('started');

/** @returns JSON of a value; undefined where no seed leads to one that the validator accepts */
function answer({ schema, seed }: SchemaToMeet): string | undefined {
  const meets = compileSchema(schema as JsonSchema);
  for (let tried = 0; tried < SEEDS_MAX; tried += 1) {
    const value = generateSync(schema as JsonSchema, { ...SHORT, seed: seed + tried });
    if (meets(value)) return JSON.stringify(value);
  }
  return undefined;
}
