import { isUtf8 } from 'node:buffer';
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { scanJson } from '../../../common/format.ts';
import { parseJson } from '../../../programs/client/proof.ts';
import { type ChatCompletionRequest, parseChatCompletion } from '../../contracts/chatCompletion.ts';
import { ApiError } from '../../contracts/errors.ts';

/** The entry of the thread that reads large bodies: one answer for each body, in order. */

/** On a busy processor, about a tenth of its time. */
const PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * What a body holds, without the fields that are ignored; or what is wrong with it.
 *
 * @param Request is JSON text between the threads: it crosses in a third of the time of an object
 */
export type ReadBody<Request = ChatCompletionRequest> =
  | { kind: 'request'; request: Request; bytes: Uint8Array }
  | { kind: 'not_utf8' }
  | { kind: 'not_json' }
  | { kind: 'invalid'; message: string; param: string | undefined };

// On Linux each thread has a priority of its own: the one that answers everybody goes first.
if (parentPort && process.platform === 'linux') setPriority(PRIORITY);

parentPort?.on('message', (chunks: Uint8Array[]) => {
  const body = read(join(chunks));
  parentPort?.postMessage(body, body.kind === 'request' ? [body.bytes.buffer as ArrayBuffer] : []);
});

/** Copies into memory of its own, which can be given back. */
function join(chunks: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function read(bytes: Buffer): ReadBody<string> {
  if (!isUtf8(bytes)) return { kind: 'not_utf8' };
  const { fault } = scanJson(bytes);
  if (fault) return { kind: 'invalid', ...fault };
  let value: unknown;
  try {
    value = parseJson(new TextDecoder().decode(bytes));
  } catch {
    return { kind: 'not_json' };
  }
  try {
    return { kind: 'request', request: JSON.stringify(parseChatCompletion(value)), bytes };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: 'invalid', message: error.message, param: error.options.param };
  }
}
