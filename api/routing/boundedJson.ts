import type { Response } from 'undici';

/** A refusal or a health report needs some hundred bytes. */
const BODY_BYTES_MAX = 65_536;

/**
 * The JSON body of a worker's answer. What is longer is not received: a stranger must not be able
 * to fill our memory.
 *
 * @throws SyntaxError when it is no JSON, or longer than 64 KiB
 */
export async function readBoundedJson(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop closes the connection.
    if (size > BODY_BYTES_MAX) throw new SyntaxError('the body is too long');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
