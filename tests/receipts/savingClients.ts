import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import type { RunningService } from '../../testing/service/runningService.ts';

/** What a user of a client has kept: the answer, and the body of its request. */
export interface Saved {
  readonly answer: string;
  readonly request: string;
}

type Asked = Pick<RunningService, 'baseUrl' | 'apiKey'> & {
  readonly model: string;
  /** For files. */
  readonly folder: string;
};

const SYSTEM = 'Answer in one line.';
const QUESTION = 'Which rivers flow\nthrough Zürich — "all" of them? 🙂';
const SAMPLING = { temperature: 0.3, top_p: 0.9, seed: 7, stop: ['\n\n\n'] };
const MAX_TOKENS = 60;
const messages = [
  { role: 'system' as const, content: SYSTEM },
  { role: 'user' as const, content: QUESTION },
];

const run = promisify(execFile);

/** Each client that runs on Node, and curl, with every way in which its users keep an answer. */
export const SAVING_CLIENTS: Readonly<Record<string, (asked: Asked) => Promise<Saved>>> = {
  'openai, a plain answer as an object': async (asked) => {
    const body = { ...bodyOf(asked), stream: false as const };
    const answer = await officialClient(asked).chat.completions.create(body);
    return { answer: JSON.stringify(answer, null, 2), request: JSON.stringify(body) };
  },
  'openai, the chunks of a stream as lines of JSON': async (asked) => {
    const body = { ...bodyOf(asked), stream: true as const };
    const lines: string[] = [];
    for await (const chunk of await officialClient(asked).chat.completions.create(body)) {
      lines.push(JSON.stringify(chunk));
    }
    return { answer: lines.join('\n'), request: JSON.stringify(body) };
  },
  'openai, what its stream helper puts together': async (asked) => {
    const { hook, saved } = keepingFetch();
    const runner = officialClient(asked, hook).chat.completions.stream(bodyOf(asked));
    const whole = await runner.finalChatCompletion();
    return { answer: JSON.stringify(whole), request: (await saved()).request };
  },
  'openai, a plain response as an object': async (asked) => {
    const body = responsesBodyOf(asked);
    const response = await officialClient(asked).responses.create(body);
    return { answer: JSON.stringify(response, null, 2), request: JSON.stringify(body) };
  },
  'openai, the events of a response as lines of JSON': async (asked) => {
    const body = { ...responsesBodyOf(asked), stream: true as const };
    const lines: string[] = [];
    for await (const event of await officialClient(asked).responses.create(body)) {
      lines.push(JSON.stringify(event));
    }
    return { answer: lines.join('\n'), request: JSON.stringify(body) };
  },
  'openai, what its stream helper makes of a response': async (asked) => {
    const { hook, saved } = keepingFetch();
    const runner = officialClient(asked, hook).responses.stream(responsesBodyOf(asked));
    const whole = await runner.finalResponse();
    return { answer: JSON.stringify(whole), request: (await saved()).request };
  },
  'LangChain, a stream by its fetch hook': async (asked) => {
    const { hook, saved } = keepingFetch();
    for await (const _ of await langChain(asked, hook).stream(asLangChain));
    return saved();
  },
  'LangChain, the raw chunks of a stream as a list': async (asked) => {
    const { hook, saved } = keepingFetch();
    const chunks: unknown[] = [];
    const model = langChain(asked, hook, { __includeRawResponse: true });
    for await (const { additional_kwargs } of await model.stream(asLangChain)) {
      if (additional_kwargs.__raw_response) chunks.push(additional_kwargs.__raw_response);
    }
    return { answer: JSON.stringify(chunks), request: (await saved()).request };
  },
  'the AI SDK, the raw chunks of a stream as lines of JSON': async (asked) => {
    const lines: string[] = [];
    const stream = streamText({
      model: vercel(asked),
      ...asVercel,
      include: { rawChunks: true, requestBody: true },
    });
    for await (const part of stream.fullStream) {
      if (part.type === 'raw') lines.push(JSON.stringify(part.rawValue));
    }
    return { answer: lines.join('\n'), request: asText((await stream.request).body) };
  },
  'the AI SDK, the body of a plain answer': async (asked) => {
    const { request, response } = await generateText({
      ...{ model: vercel(asked), ...asVercel },
      include: { requestBody: true, responseBody: true },
    });
    return { answer: asText(response.body), request: asText(request.body) };
  },
  'curl, a plain answer in a file': (asked) => curl(asked, false, []),
  'curl, a stream in a file': (asked) => curl(asked, true, ['--no-buffer']),
  'curl, a stream with its headers': (asked) => curl(asked, true, ['--include']),
  'curl, a plain response in a file': (asked) => curl(asked, false, [], 'responses'),
  'curl, a response streamed, with its headers': (asked) =>
    curl(asked, true, ['--include'], 'responses'),
};

/** It has some bodies as text, and some as objects. */
const asText = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

const bodyOf = ({ model }: Asked) => ({ model, messages, max_tokens: MAX_TOKENS, ...SAMPLING });

const responsesBodyOf = ({ model }: Asked) => ({
  ...{ model, instructions: SYSTEM, input: QUESTION, max_output_tokens: MAX_TOKENS, ...SAMPLING },
});

const officialClient = ({ baseUrl, apiKey }: Asked, fetch?: typeof globalThis.fetch): OpenAI =>
  new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey, maxRetries: 0, ...(fetch && { fetch }) });

const asLangChain: [string, string][] = [
  ['system', SYSTEM],
  ['user', QUESTION],
];

const langChain = ({ baseUrl, apiKey, model }: Asked, fetch: typeof globalThis.fetch, more = {}) =>
  new ChatOpenAI({
    ...{ model, apiKey, maxRetries: 0, maxTokens: MAX_TOKENS, temperature: 0.3, topP: 0.9 },
    configuration: { baseURL: `${baseUrl}/v1`, fetch },
    ...more,
  });

const asVercel = {
  ...{ instructions: SYSTEM, prompt: QUESTION, maxOutputTokens: MAX_TOKENS },
  ...{ temperature: 0.3, topP: 0.9, seed: 7, stopSequences: ['\n\n\n'] },
};

const vercel = ({ baseUrl, apiKey, model }: Asked) =>
  createOpenAICompatible({ name: 'svc', baseURL: `${baseUrl}/v1`, apiKey })(model);

/** A fetch that keeps what was sent and what came, as a user of a client can hand it one. */
function keepingFetch() {
  let sent = '';
  let came: Promise<string> | undefined;
  const hook: typeof fetch = async (url, init) => {
    sent = String(init?.body);
    const response = await fetch(url, init);
    const [own, passedOn] = response.body?.tee() ?? [];
    came = text(own as never);
    return new Response(passedOn, response);
  };
  const saved = async (): Promise<Saved> => ({ answer: String(await came), request: sent });
  return { hook, saved };
}

async function curl(
  asked: Asked,
  stream: boolean,
  options: readonly string[],
  route: 'chat/completions' | 'responses' = 'chat/completions',
): Promise<Saved> {
  const body = route === 'responses' ? responsesBodyOf(asked) : bodyOf(asked);
  const { baseUrl, apiKey, folder } = asked;
  const [sent, came] = [join(folder, 'request.json'), join(folder, 'answer.txt')];
  await writeFile(sent, JSON.stringify({ ...body, stream }, null, 2));
  await run('curl', [
    ...['-sS', '--fail-with-body', `${baseUrl}/v1/${route}`, ...options],
    ...['-H', `Authorization: Bearer ${apiKey}`, '-H', 'Content-Type: application/json'],
    ...['-d', `@${sent}`, '-o', came],
  ]);
  return { answer: await readFile(came, 'utf8'), request: await readFile(sent, 'utf8') };
}
