import { parentPort } from 'node:worker_threads';
import type { AnySchema } from 'ajv';
import { compileSchema } from '../../common/contracts/jsonSchema.ts';

/** The entry of the thread that holds answers against schemas. */

export interface TextToCheck {
  text: string;
  /** JSON. */
  schema: string;
}

parentPort?.on('message', (request: TextToCheck) => parentPort?.postMessage(meets(request)));
// The first schema takes a process's beginning, which counts for no answer.
meets({ text: '{}', schema: '{"type":"object"}' });
parentPort?.postMessage('started');

/** @returns null where the schema is none, or the value too deep to judge */
function meets({ text, schema }: TextToCheck): boolean | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  try {
    return compileSchema(JSON.parse(schema) as AnySchema)(value);
  } catch {
    return null;
  }
}
