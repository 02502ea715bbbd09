import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI, { APIError, BadRequestError } from 'openai';
import { zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod';
import type {
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseInput,
} from 'openai/resources/responses/responses';
import { z } from 'zod';

type Asked = Omit<ResponseCreateParamsNonStreaming, 'stream'>;
type Evidence = { svc?: { job_id: string; verify_url: string } };

const place = z.object({ city: z.string() });
const tools = [zodResponsesFunction({ name: 'weather', parameters: place })];
const CITIES = ['Basel', 'Bern'].map((city) => ({ city }));

/** The official client's `responses`: each of its forms, tools with their results, and errors. */
export async function checkOfficialResponses(client: OpenAI, model: string): Promise<void> {
  const asked = { model, input: 'Say hello.' };
  const answer = await client.responses.create(asked);
  assert.deepEqual([answer.status, answer.output_text], ['completed', 'Good morning.']);
  assert.equal(answer.id, `resp_${(answer as Evidence).svc?.job_id}`);
  const [thought] = answer.output;
  assert.equal(thought?.type === 'reasoning' && thought.content?.[0]?.text, 'Hm. ');

  const pieces: string[] = [];
  for await (const event of await client.responses.create({ ...asked, stream: true })) {
    if (event.type === 'response.output_text.delta') pieces.push(event.delta);
    if (event.type !== 'response.completed') continue;
    assert.match((event.response as Evidence).svc?.verify_url ?? '', /\/verify\/job_/);
  }
  assert.deepEqual(pieces, ['Good ', 'morning.']);
  const helped = await client.responses.stream(asked).finalResponse();
  assert.equal(helped.output_text, 'Good morning.');

  const city = { model, input: 'Which city?', text: { format: zodTextFormat(place, 'place') } };
  assert.deepEqual((await client.responses.parse(city)).output_parsed, { city: 'Basel' });
  const streamed = await client.responses.stream(city).finalResponse();
  assert.deepEqual(streamed.output_parsed, { city: 'Basel' });

  await checkTools(client, model);
  await checkErrors(client, model);
}

async function checkTools(client: OpenAI, model: string): Promise<void> {
  const asked = { model, tools, input: 'How warm are Basel and Bern?' };
  const called = await client.responses.parse(asked);
  assert.deepEqual(argumentsOf(called), CITIES);
  const single = { ...asked, parallel_tool_calls: false };
  assert.deepEqual(argumentsOf(await client.responses.parse(single)), CITIES.slice(0, 1));
  for (const tool_choice of ['required' as const, { type: 'function' as const, name: 'weather' }]) {
    const forced = await client.responses.parse({ ...asked, input: 'Hi.', tool_choice });
    assert.deepEqual(argumentsOf(forced), CITIES.slice(0, 1));
  }
  const helped = await client.responses.stream(asked).finalResponse();
  assert.deepEqual(argumentsOf(helped), CITIES);
  // Its users send the whole output back, the reasoning with it.
  const input = [
    { role: 'user' as const, content: asked.input },
    ...called.output,
    ...called.output.flatMap((item) =>
      item.type === 'function_call'
        ? { type: 'function_call_output' as const, call_id: item.call_id, output: '21 degrees' }
        : [],
    ),
  ];
  const ended = await client.responses.create({ ...asked, input: input as ResponseInput });
  assert.equal(ended.output_text, 'It is 21 degrees and 21 degrees.');
}

const argumentsOf = ({ output }: Pick<Response, 'output'>): unknown[] =>
  output.flatMap((item) => ('parsed_arguments' in item ? [item.parsed_arguments] : []));

async function checkErrors(client: OpenAI, model: string): Promise<void> {
  const unknown = client.responses.create({ model: 'no-such-model', input: 'Hi.' });
  await assert.rejects(unknown, (error: APIError) => {
    return error instanceof BadRequestError && error.code === 'model_not_found';
  });
  const broken = { model, input: 'Break off.' };
  const read = async () => {
    for await (const _ of await client.responses.create({ ...broken, stream: true }));
  };
  for (const work of [read, () => client.responses.stream(broken).finalResponse()]) {
    await assert.rejects(work, (error) => {
      return error instanceof APIError && error.code === 'worker_failed';
    });
  }
}

/** Saves answers in each form in which its users have them, and the body that was sent for each. */
export async function saveOfficialResponses(
  options: { baseURL: string; apiKey: string },
  model: string,
  folder: string,
): Promise<void> {
  let sent = '';
  let came = '';
  const client = new OpenAI({
    ...options,
    async fetch(url, init) {
      sent = String(init?.body);
      const response = await fetch(url, init);
      came = await response.clone().text();
      return response;
    },
  });
  const save = async (name: string, answer: string) => {
    await writeFile(join(folder, `${name}.answer`), answer);
    await writeFile(join(folder, `${name}.request`), sent);
  };
  const brief: Asked = { model, input: 'Say hello.', instructions: 'Be brief.', temperature: 0.2 };
  const calling: Asked = { model, input: 'How warm are Basel and Bern?', tools };
  for (const [name, asked] of Object.entries({ text: brief, calls: calling })) {
    await save(`${name} plain`, JSON.stringify(await client.responses.create(asked)));
    await save(`${name} parsed`, JSON.stringify(await client.responses.parse(asked)));
    const lines: string[] = [];
    for await (const event of await client.responses.create({ ...asked, stream: true })) {
      lines.push(JSON.stringify(event));
    }
    await save(`${name} events`, lines.join('\n'));
    await save(`${name} raw stream`, came);
    const helped = await client.responses.stream(asked).finalResponse();
    await save(`${name} helped stream`, JSON.stringify(helped));
  }
}
