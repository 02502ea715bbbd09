import http, { type Agent, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { unlessAborted } from '../wait.ts';

/** Far longer than any honest one; each head of 1xx may be as long. */
const HEAD_BYTES_MAX = 65_536;
/** Heads of 1xx before the answer; more are no honest server's. */
const INFORMATIONAL_HEADS_MAX = 1_000;

/**
 * Posts a body and waits for the head of the answer, past any of 1xx before it. 101 is an answer: it
 * switches to a protocol that was not asked for. Node's client, since undici's takes 100 for a fault.
 *
 * @param options.agent by default Node's own
 * @returns the answer, whose body is the caller's to read, or to destroy with its connection
 * @throws the signal's reason once it aborts; an error with a `code` for what goes wrong before the
 *   head is whole, a head that is no HTTP or longer than 64 KiB among it
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
    // After the head it is of no interest any more, but without a listener it would end the process.
    asking.on('error', reject);
    asking.end(body);
  });
  return unlessAborted(signal, answering);
}
