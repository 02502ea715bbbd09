/** The clients of Node in both formats: what tests/journeys/clientLibraries.test.ts leaves to a model. */
import assert from 'node:assert/strict';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { zodFunction } from 'openai/helpers/zod';
import { z } from 'zod';
import { checkOfficialResponses, saveOfficialResponses } from './officialResponses.ts';

const { BASE_URL, API_KEY: apiKey = '', MODEL: model = '', SAVED = '' } = process.env;
const baseURL = `${BASE_URL}/v1`;
const description = 'How warm a city is.';
const parameters = z.object({ city: z.string() });
const weather = ({ city }: z.infer<typeof parameters>) => `21 degrees in ${city}`;
const ONE = 'How warm is Basel?';
const TWO = 'How warm are Basel and Bern?';
const ANSWER = 'It is 21 degrees in Basel.';
const VERIFY_URL = /\/verify\/job_/;
type Evidence = { svc?: { verify_url: string } };
const BOTH = 'It is 21 degrees in Basel and 21 degrees in Bern.';

// The official client: the helper runs the tools until there is text.
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const own = zodFunction({ name: 'weather', description, parameters, function: weather });
const ask = (content: string) => ({
  model,
  tools: [own],
  messages: [{ role: 'user' as const, content }],
});
assert.equal(await client.chat.completions.runTools(ask(TWO)).finalContent(), BOTH);
const running = client.chat.completions.runTools({ ...ask(TWO), stream: true });
assert.equal(await running.finalContent(), BOTH);
const chosen = { type: 'function' as const, function: { name: 'weather' } };
for (const choice of ['required' as const, chosen]) {
  const forced = await client.chat.completions.create({ ...ask('Hi.'), tool_choice: choice });
  assert.equal(forced.choices[0]?.finish_reason, 'tool_calls');
}
const single = await client.chat.completions.parse({ ...ask(TWO), parallel_tool_calls: false });
const [message] = single.choices.map((choice) => choice.message);
assert.deepEqual(
  message?.tool_calls?.map((call) => call.type === 'function' && call.function.parsed_arguments),
  [{ city: 'Basel' }],
);

await checkOfficialResponses(client, model);
await saveOfficialResponses({ baseURL, apiKey }, model, SAVED);

// The Vercel AI SDK: steps until there is text.
const providers = [
  createOpenAICompatible({ name: 'svc', baseURL, apiKey })(model),
  createOpenAI({ baseURL, apiKey })(model),
];
for (const provider of providers) {
  const vercel = {
    model: provider,
    maxRetries: 0,
    tools: { weather: tool({ description, inputSchema: parameters, execute: weather }) },
    stopWhen: stepCountIs(3),
    // Otherwise the provider of responses refers to earlier answers in place of sending them.
    providerOptions: { openai: { store: false } },
  };
  const include = { responseBody: true };
  const { text, steps, response } = await generateText({ ...vercel, prompt: ONE, include });
  assert.deepEqual([text, steps.length], [ANSWER, 2]);
  assert.match((response.body as Evidence).svc?.verify_url ?? '', VERIFY_URL);
  const stream = streamText({ ...vercel, prompt: TWO });
  assert.equal(await stream.text, BOTH);
  const [first] = await stream.steps;
  assert.deepEqual([first?.finishReason, first?.toolCalls.length], ['tool-calls', 2]);
  for (const toolChoice of ['required', { type: 'tool', toolName: 'weather' }] as const) {
    const named = await generateText({ ...vercel, prompt: 'Hi.', toolChoice });
    assert.equal(named.steps[0]?.toolCalls[0]?.toolName, 'weather');
  }
  const broken = streamText({ ...vercel, prompt: 'Break off.', onError: () => undefined });
  const errors = [];
  for await (const part of broken.stream) if (part.type === 'error') errors.push(part.error);
  assert.match(String(errors), /No worker produced a proven answer/);
  assert.equal(await broken.finishReason, 'error');
}

// LangChain: a round by hand, and a forced tool in place of a schema.
for (const useResponsesApi of [false, true]) {
  const configuration = { baseURL };
  const chat = new ChatOpenAI({ model, apiKey, configuration, maxRetries: 0, useResponsesApi });
  const bound = chat.bindTools([zodFunction({ name: 'weather', description, parameters })]);
  const called = await bound.invoke(TWO);
  let whole: Awaited<ReturnType<typeof chat.invoke>> | undefined;
  for await (const chunk of await bound.stream(TWO)) {
    whole = whole ? whole.concat(chunk) : chunk;
  }
  for (const answer of [called, whole]) {
    assert.deepEqual(
      answer?.tool_calls?.map(({ args }) => args.city),
      ['Basel', 'Bern'],
    );
    const results = (answer?.tool_calls ?? []).map(({ id = '', args }) => ({
      ...{ role: 'tool', tool_call_id: id, content: weather(parameters.parse(args)) },
    }));
    assert.equal((await bound.invoke([['user', TWO], answer as never, ...results])).text, BOTH);
  }
  if (useResponsesApi) {
    assert.match(({ ...whole?.response_metadata } as Evidence).svc?.verify_url ?? '', VERIFY_URL);
    assert.match(String(called.response_metadata.id), /^resp_job_/);
  }
  const byTool = chat.withStructuredOutput(parameters, { method: 'functionCalling' });
  assert.deepEqual(await byTool.invoke('Which city?'), { city: 'Basel' });
  await assert.rejects(
    async () => {
      for await (const _ of await chat.stream('Break off.'));
    },
    { code: 'worker_failed' },
  );
}
