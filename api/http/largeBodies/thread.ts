import { parentPort } from 'node:worker_threads';
import { type ChatCompletionRequest, parseChatCompletion } from '../contracts/chatCompletion.ts';
import { ApiError } from '../contracts/errors.ts';

/** The entry of the thread that reads large bodies: one answer a body, in order. */

/** What a body holds, without the fields that are ignored; or what is wrong with it. */
export type ReadBody =
  | { kind: 'request'; request: ChatCompletionRequest }
  | { kind: 'not_json' }
  | { kind: 'invalid'; message: string; param: string | undefined };

parentPort?.on('message', (bytes: Uint8Array) => parentPort?.postMessage(read(bytes)));

/** @param bytes are UTF-8 */
function read(bytes: Uint8Array): ReadBody {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return { kind: 'not_json' };
  }
  try {
    return { kind: 'request', request: parseChatCompletion(value) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: 'invalid', message: error.message, param: error.options.param };
  }
}
