import { Agent, request } from 'undici';

/** One answered request. */
export interface Sample {
  durationMs: number;
  /** Whether the answer came with status 200. */
  isAnswered: boolean;
  /** Milliseconds of each stage the service names in `server-timing`; empty for others. */
  stages: Readonly<Record<string, number>>;
  isSettled: boolean;
}

/** What a number of clients saw, each asking again as soon as it was answered. */
export interface Load {
  samples: readonly Sample[];
  elapsedMs: number;
}

/** A chat-completions server and how to ask it. */
export interface Target {
  /** Ends in /v1. */
  url: string;
  apiKey: string;
  model: string;
}

/** @param stream whether to ask for a stream, which is read to its `[DONE]` */
export async function putUnderLoad(
  target: Target,
  options: { clients: number; requests: number; stream: boolean },
): Promise<Load> {
  const { clients, requests, stream } = options;
  const agent = new Agent({ connections: clients, pipelining: 1 });
  const samples: Sample[] = [];
  let left = requests;
  const startMs = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (left-- > 0) samples.push(await ask(target, stream, agent));
    }),
  );
  const elapsedMs = performance.now() - startMs;
  await agent.close();
  return { samples, elapsedMs };
}

async function ask(target: Target, stream: boolean, dispatcher: Agent): Promise<Sample> {
  const startMs = performance.now();
  const { statusCode, headers, body } = await request(`${target.url}/chat/completions`, {
    method: 'POST',
    dispatcher,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${target.apiKey}`,
    },
    body: JSON.stringify({
      model: target.model,
      stream,
      messages: [{ role: 'user', content: 'Say something.' }],
    }),
  });
  let text = '';
  let durationMs = 0;
  for await (const chunk of body) {
    text += chunk;
    // A stream's trailers wait for the ledger; its reader does not.
    if (text.includes('data: [DONE]')) durationMs ||= performance.now() - startMs;
  }
  durationMs ||= performance.now() - startMs;
  return {
    durationMs,
    isAnswered: statusCode === 200,
    stages: parseServerTiming(String(headers['server-timing'] ?? '')),
    isSettled: 'x-svc-settlement-tx' in headers,
  };
}

/** `lock;dur=21.4, worker;dur=3.0` */
function parseServerTiming(header: string): Record<string, number> {
  return Object.fromEntries(
    [...header.matchAll(/(\w+);dur=([\d.]+)/g)].map(([, name, ms]) => [name, Number(ms)]),
  );
}
