import http, { type Agent, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { unlessAborted } from '../wait.ts';

/** Far longer than any honest one; each head of 1xx may be as long. */
const HEAD_BYTES_MAX = 65_536;
/** Heads of 1xx before the answer; more are no honest server's. */
const INFORMATIONAL_HEADS_MAX = 1_000;

/** The code of a connection that was closed or reset before any byte of an answer. */
export const UNANSWERED = 'UNANSWERED';

/**
 * Posts a body and waits for the head of the answer. Heads of 1xx before it are skipped, except 101,
 * which answers with a protocol that was not requested. It uses Node's client, since undici's takes
 * 100 for a fault.
 *
 * @param options.agent by default Node's own
 * @returns the answer; the caller reads its body, or destroys it with its connection
 * @throws the signal's reason once it aborts
 * @throws Error with a `code` for a fault before the head is whole. That includes a head that is no
 *   HTTP, or longer than 64 KiB
 */
export function post(
  url: string | URL,
  options: {
    headers: Readonly<Record<string, string>>;
    body: string;
    signal: AbortSignal;
    agent?: Agent;
  },
): Promise<IncomingMessage> {
  const { headers, body, signal, agent } = options;
  const { request } = new URL(url).protocol === 'https:' ? https : http;
  const answering = new Promise<IncomingMessage>((resolve, reject) => {
    let informational = 0;
    const asking = request(url, {
      method: 'POST',
      headers,
      signal,
      agent,
      maxHeaderSize: HEAD_BYTES_MAX,
    });
    asking.on('information', () => {
      informational += 1;
      if (informational > INFORMATIONAL_HEADS_MAX) asking.destroy(new Error('1xx without an end'));
    });
    asking.on('response', resolve);
    asking.on('upgrade', (answer, socket) => {
      socket.destroy();
      answer.destroy();
      resolve(answer);
    });
    let bytesBefore = 0;
    asking.on('finish', () => {
      bytesBefore = asking.socket?.bytesRead ?? 0;
    });
    // After the head it is of no interest any more, but without a listener it would end the process.
    asking.on('error', (cause: NodeJS.ErrnoException) => {
      const isUnanswered = cause.code === 'ECONNRESET' && asking.socket?.bytesRead === bytesBefore;
      const code = UNANSWERED;
      reject(
        isUnanswered ? Object.assign(new Error('closed unanswered', { cause }), { code }) : cause,
      );
    });
    asking.end(body);
  });
  return unlessAborted(signal, answering);
}
