import type { Readable } from 'node:stream';

/** A refusal or a health report needs some hundred bytes. */
const BODY_BYTES_MAX = 65_536;

/**
 * The JSON body of a worker's answer. What is longer is not received: a stranger must not be able
 * to fill our memory.
 *
 * @throws SyntaxError when it is no JSON, or longer than 64 KiB
 */
export async function readBoundedJson(body: Readable): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop closes the connection, which is an error to the body and none to us.
  body.on('error', () => undefined);
  for await (const chunk of body) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw new SyntaxError('the body is too long');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
