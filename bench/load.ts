import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import { machineClockMs } from './servers.ts';

/** One answered request. */
export interface Sample {
  durationMs: number;
  /** The time until the first byte of its body. */
  firstByteMs: number;
  /** What was asked: no two requests are equal, as with real users. */
  prompt: string;
  /** When its body was whole, by the machine's clock; a stream's with its `[DONE]`. */
  wholeAtMs: number;
  /** Whether the answer came with status 200. */
  isAnswered: boolean;
  /** The status and the error code of a failed request. */
  error: string | undefined;
  /** Milliseconds of each stage the service names in `server-timing`; empty for others. */
  stages: Readonly<Record<string, number>>;
  isSettled: boolean;
}

/** The samples of a number of clients, each of which sends its next request after each answer. */
export interface Load {
  samples: readonly Sample[];
  elapsedMs: number;
}

/** A chat-completions server with its key and model. */
export interface Target {
  /** Ends in /v1. */
  url: string;
  apiKey: string;
  model: string;
  /** In which format it is asked; default: chat completions. */
  format?: 'responses';
  /** What else its requests carry. */
  headers?: Readonly<Record<string, string>>;
}

/** The samples of clients that each send their next request after an answer. */
export async function putUnderLoad(
  target: Target,
  options: { clients: number; requests: number; stream: boolean },
): Promise<Load> {
  const { clients, requests, stream } = options;
  const samples: Sample[] = [];
  let left = requests;
  const startMs = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const client = createClient(target, index);
      while (left-- > 0) samples.push(await client.send(stream));
      await client.close();
    }),
  );
  const elapsedMs = performance.now() - startMs;
  return { samples, elapsedMs };
}

/**
 * A client with a connection of its own. It has its own loopback address, too, where the system has
 * several, as Linux does: the service's burst limit applies to each address.
 */
export function createClient(target: Target, index: number) {
  const localAddress = `127.0.1.${index + 1}`;
  const isLinux = process.platform === 'linux';
  const agent = new Agent({ connections: 1, ...(isLinux && { localAddress }) });
  return {
    /** @param stream whether to request a stream, which is read to its `[DONE]` */
    send: (stream: boolean): Promise<Sample> => sendRequest(target, stream, agent),
    close: (): Promise<void> => agent.close(),
  };
}

async function sendRequest(target: Target, stream: boolean, dispatcher: Agent): Promise<Sample> {
  const prompt = `Say something (${randomUUID()}).`;
  const startMs = performance.now();
  const url = `${target.url}/${target.format ?? 'chat/completions'}`;
  const asked = target.format
    ? { input: prompt }
    : { messages: [{ role: 'user', content: prompt }] };
  const { statusCode, headers, body } = await request(url, {
    method: 'POST',
    dispatcher,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${target.apiKey}`,
      ...target.headers,
    },
    body: JSON.stringify({ model: target.model, stream, ...asked }),
  });
  let text = '';
  let durationMs = 0;
  let firstByteMs = 0;
  let wholeAtMs = 0;
  for await (const chunk of body) {
    firstByteMs ||= performance.now() - startMs;
    text += chunk;
    // A stream's trailers wait for the ledger; its reader does not.
    if (text.includes('data: [DONE]')) {
      durationMs ||= performance.now() - startMs;
      wholeAtMs ||= machineClockMs();
    }
  }
  durationMs ||= performance.now() - startMs;
  wholeAtMs ||= machineClockMs();
  return {
    durationMs,
    firstByteMs,
    prompt,
    wholeAtMs,
    isAnswered: statusCode === 200,
    error: statusCode === 200 ? undefined : `${statusCode} ${codeOf(text)}`,
    stages: parseServerTiming(String(headers['server-timing'] ?? '')),
    isSettled: 'x-svc-settlement-tx' in headers,
  };
}

function codeOf(body: string): string {
  return (JSON.parse(body) as { error: { code: string } }).error.code;
}

/** `lock;dur=21.4, worker;dur=3.0` */
function parseServerTiming(header: string): Record<string, number> {
  return Object.fromEntries(
    [...header.matchAll(/(\w+);dur=([\d.]+)/g)].map(([, name, ms]) => [name, Number(ms)]),
  );
}
