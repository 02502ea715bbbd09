import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import OpenAI from 'openai';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { bytesToHex, hexToBytes } from '../../programs/client/platform/bytes.ts';
import { requestCommitment } from '../../programs/client/proof.ts';
import {
  type AnswerDetails,
  answerDetails,
  type ToolCall,
  toolCallsAsJson,
} from '../../programs/client/statement.ts';
import { readAnswer } from '../../programs/client/verify/answer/readAnswer.ts';
import { readRequest } from '../../programs/client/verify/answer/sentRequest.ts';
import { needs } from '../../testing/machine/needs.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { createRandom, type Random } from '../../testing/random.ts';
import { bodyFor, ROUTES, type Route } from '../../testing/service/formats.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { createSolvingEngine, piecesOfCalls } from '../../testing/workers/engines.ts';
import type { Engine, EngineEvent } from '../../worker/engine/engine.ts';
import { runInPython } from './runInPython.ts';
import { drawText, drawWords } from './vectors/draw.ts';

/** `npm run test:long -- calls --count 10000 --seed 7` draws more. */
const COUNT = Number(process.env.CALLS ?? 100);
const AT_ONCE = 16;
const NAMES = ['look_up', 'Add-2', 'x'];

const random = createRandom();
const folder = ownFolder('svc-drawn-calls');

/** An answer as the engine gives it, for one drawn request. */
interface Drawn {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly isStream: boolean;
  readonly route: Route;
  readonly asked: Omit<OpenAI.ChatCompletionCreateParams, 'stream'>;
}

const drawCall = (own: Random, at: number): ToolCall => ({
  id: `call_${at}${own.below(1_000)}`,
  name: NAMES[own.below(NAMES.length)] ?? '',
  arguments:
    own.below(4) === 0 ? drawText(own, 20) : JSON.stringify({ [drawText(own)]: drawText(own) }),
});
const drawCalls = (own: Random, most: number) =>
  Array.from({ length: own.below(most) }, (_, at) => drawCall(own, at));

function draw(at: number): Drawn {
  const own = createRandom(random.seed + at);
  const toolCalls = drawCalls(own, 4);
  const [first] = toolCalls;
  const forced = toolCalls.every(({ name }) => name === first?.name) && first;
  const choices = first ? (['auto', 'required'] as const) : (['auto', 'none'] as const);
  const named = forced && { type: 'function' as const, function: { name: forced.name } };
  const earlier = drawCalls(own, 3);
  return {
    toolCalls,
    text: first && own.below(2) === 0 ? '' : drawWords(own),
    reasoning: own.below(3) === 0 ? drawWords(own) : '',
    isStream: own.below(2) === 0,
    route: ROUTES[own.below(2)] ?? 'responses',
    asked: {
      model: service.model.id,
      max_tokens: 1_000,
      tools: NAMES.map((name) => ({
        type: 'function',
        function: { name, parameters: schemaOf(own) },
      })),
      tool_choice: named && own.below(3) === 0 ? named : (choices[own.below(2)] ?? 'auto'),
      ...(own.below(2) === 0 && { parallel_tool_calls: true }),
      messages: [
        { role: 'system', content: drawWords(own) },
        ...(earlier.length === 0
          ? []
          : [{ role: 'assistant' as const, content: null, tool_calls: toolCallsAsJson(earlier) }]),
        ...earlier.map(({ id }) => ({
          ...{ role: 'tool' as const, tool_call_id: id, content: drawText(own) },
        })),
        { role: 'user', content: `draw ${at}` },
      ],
    },
  };
}

const schemaOf = (own: Random) => ({
  type: 'object',
  properties: { [drawWords(own, 1)]: { type: 'string', description: drawText(own) } },
});

const solving = createSolvingEngine();
/** Answers what was drawn for the request, in small pieces. */
const engine: Engine = {
  kind: 'upstream',
  async *generate(chat, limits): AsyncGenerator<EngineEvent> {
    const [, at] = /^draw (\d+)$/.exec(chat.messages.at(-1)?.content ?? '') ?? [];
    if (at === undefined) return yield* solving.generate(chat, limits);
    const { text, reasoning, toolCalls } = draw(Number(at));
    for (const piece of reasoning.match(/.{1,4}/gsu) ?? [])
      yield { type: 'reasoning', text: piece };
    for (const piece of text.match(/.{1,4}/gsu) ?? []) yield { type: 'text', text: piece };
    yield* piecesOfCalls(toolCalls);
    yield { type: 'end', finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop' };
  },
};

let service: RunningService;
beforeAll(async () => {
  service = await startRunningService({
    workers: [engine],
    credits: 1_000n + 10n * BigInt(COUNT),
    apiSettings: { SVC_PREVIEW: 'tools' },
  });
});
afterAll(() => service?.close());

type Client = Pick<OpenAI, 'chat' | 'responses'>;

async function completionOf(client: Client, { asked, isStream }: Drawn) {
  const { choices } = isStream
    ? await client.chat.completions.stream(asked).finalChatCompletion()
    : await client.chat.completions.create(asked);
  const [{ message, finish_reason: end } = { message: undefined, finish_reason: '' }] = choices;
  const calls = (message?.tool_calls ?? []) as { id: string; function: Omit<ToolCall, 'id'> }[];
  return {
    ...{ text: message?.content ?? '', end },
    calls: calls.map(({ id, function: { name, arguments: written } }) => ({ id, name, written })),
  };
}

async function responseOf(client: Client, { asked, isStream }: Drawn) {
  const body = bodyFor('responses', { ...asked }) as OpenAI.Responses.ResponseCreateParams;
  const { output, output_text, status } = isStream
    ? await client.responses.stream({ ...body, stream: true }).finalResponse()
    : await client.responses.create({ ...body, stream: false });
  const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
  return {
    ...{ text: output_text, end: status },
    calls: calls.map(({ call_id: id, name, arguments: written }) => ({ id, name, written })),
  };
}

/** What the official client makes of the answer, and request and answer as they went. */
async function ask(drawn: Drawn) {
  let saved = Promise.resolve('');
  let request = '';
  const client = new OpenAI({
    ...{ apiKey: service.apiKey, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 },
    async fetch(url, init) {
      request = String(init?.body);
      const response = await fetch(url, init);
      saved = response.clone().text();
      return response;
    },
  });
  const reading = drawn.route === 'responses' ? responseOf : completionOf;
  const { text, end, calls } = await reading(client, drawn);
  const called = calls.map(({ written, ...named }) => ({ ...named, arguments: written }));
  return { saved: await saved, request, text, end, called };
}

describe(`drawn requests and answers with calls (seed ${random.seed})`, () => {
  needs('python3-cryptography').it(
    'are the same to the official client, to us and to both verifiers',
    async () => {
      const cases: { kind: string; name: string; input: object; expected: object }[] = [];
      const judge = async (at: number): Promise<void> => {
        const drawn = draw(at);
        const { text, reasoning, toolCalls } = drawn;
        const { saved, request, ...said } = await ask(drawn);
        const details: AnswerDetails = {
          ...{ finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop', truncated: null },
          ...{ reasoning, toolCalls },
        };
        const end = drawn.route === 'responses' ? 'completed' : details.finishReason;
        expect([at, said]).toEqual([at, { text, end, called: toolCalls }]);
        const read = readAnswer(saved);
        expect([at, read.text, read.details]).toEqual([at, text, details]);
        const { request_commitment, answer_details, request_salt = '' } = read.svc ?? {};
        expect(answer_details).toBe(bytesToHex(answerDetails(details)));
        const asked = { ...readRequest(request).chat, token_limit: 1_000 };
        const commitment = bytesToHex(requestCommitment(hexToBytes(request_salt), asked));
        expect([at, commitment]).toEqual([at, request_commitment]);
        const { jobId: job_id, wallet, svc: { delivery_receipt } = {} } = read;
        cases.push(
          {
            ...{ kind: 'answer', name: `answer ${at}`, input: { saved } },
            expected: {
              job_id,
              wallet,
              text,
              request_salt,
              delivery_receipt,
              details: answer_details,
            },
          },
          {
            ...{ kind: 'request', name: `request ${at}`, expected: { commitment } },
            input: { request, salt: request_salt, token_limit: 1_000 },
          },
        );
      };
      for (let at = 0; at < COUNT; at += AT_ONCE) {
        const count = Math.min(AT_ONCE, COUNT - at);
        await Promise.all(Array.from({ length: count }, (_, index) => judge(at + index)));
      }
      const path = join(folder, 'cases.json');
      writeFileSync(path, JSON.stringify({ program_id: PROGRAM_ID, nodes: {}, cases }));
      const output = `${2 * COUNT} of ${2 * COUNT} cases as expected.\n`;
      expect(await runInPython(path)).toEqual({ code: 0, output });
    },
    60_000 + 100 * COUNT,
  );
});
