/** The clients of Node with tools: what tests/journeys/clientLibraries.test.ts leaves to a model. */
import assert from 'node:assert/strict';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { zodFunction } from 'openai/helpers/zod';
import { z } from 'zod';

const { BASE_URL, API_KEY: apiKey = '', MODEL: model = '' } = process.env;
const baseURL = `${BASE_URL}/v1`;
const description = 'How warm a city is.';
const parameters = z.object({ city: z.string() });
const weather = ({ city }: z.infer<typeof parameters>) => `21 degrees in ${city}`;
const ONE = 'How warm is Basel?';
const TWO = 'How warm are Basel and Bern?';
const ANSWER = 'It is 21 degrees in Basel.';
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

// The Vercel AI SDK: steps until there is text.
const vercel = {
  model: createOpenAICompatible({ name: 'svc', baseURL, apiKey })(model),
  tools: { weather: tool({ description, inputSchema: parameters, execute: weather }) },
  stopWhen: stepCountIs(3),
};
const { text, steps } = await generateText({ ...vercel, prompt: ONE });
assert.deepEqual([text, steps.length], [ANSWER, 2]);
const stream = streamText({ ...vercel, prompt: TWO });
assert.equal(await stream.text, BOTH);
const [first] = await stream.steps;
assert.deepEqual([first?.finishReason, first?.toolCalls.length], ['tool-calls', 2]);
for (const toolChoice of ['required', { type: 'tool', toolName: 'weather' }] as const) {
  const named = await generateText({ ...vercel, prompt: 'Hi.', toolChoice });
  assert.equal(named.steps[0]?.toolCalls[0]?.toolName, 'weather');
}

// LangChain: a round by hand, and a forced tool in place of a schema.
const chat = new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxRetries: 0 });
const bound = chat.bindTools([zodFunction({ name: 'weather', description, parameters })]);
const called = await bound.invoke(TWO);
const results = (called.tool_calls ?? []).map(({ id = '', args }) => ({
  ...{ role: 'tool', tool_call_id: id, content: weather(parameters.parse(args)) },
}));
assert.equal((await bound.invoke([['user', TWO], called, ...results])).text, BOTH);
let whole: Awaited<ReturnType<typeof chat.invoke>> | undefined;
for await (const chunk of await bound.stream(TWO)) {
  whole = whole ? whole.concat(chunk) : chunk;
}
assert.deepEqual(
  whole?.tool_calls?.map(({ args }) => args.city),
  ['Basel', 'Bern'],
);
const byTool = chat.withStructuredOutput(parameters, { method: 'functionCalling' });
assert.deepEqual(await byTool.invoke('Which city?'), { city: 'Basel' });
