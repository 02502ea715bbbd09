import { describe, expect, it } from '@jest/globals';
import { parseChatCompletion } from '../../api/contracts/chatCompletion.ts';
import { chatForWorker } from '../../api/jobs/admission.ts';
import { PASSED_FIELDS } from '../../common/workerProtocol.ts';
import { canonicalJson, parseJson } from '../../programs/client/proof.ts';
import { SavedFileError } from '../../programs/client/verify/answer/savedFile.ts';
import { readRequest } from '../../programs/client/verify/answer/sentRequest.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();
const BODIES = 1_000;

const oneOf = <Value>(...values: Value[]): Value => values[random.below(values.length)] as Value;
const often = () => random.below(4) > 0;
const TEXTS = ['', 'Why?', 'e\u0301 — "é"', 'a\r\nb\n', '\u{1f511}', '\ufeff', '\\u0041', '<b>'];
const text = () => oneOf(...TEXTS);
const few = <Value>(make: () => Value) => Array.from({ length: random.below(3) }, make);
const number = (min: number, max: number) => oneOf(min, max, 0, -0, min + random.below(9) / 8);

/** Any JSON, with names that objects have of their own. */
function anything(depth = 0): string {
  const kind = random.below(depth > 2 ? 5 : 8);
  if (kind < 5) return oneOf('null', 'true', '1e2', '-0.5', JSON.stringify(text()));
  if (kind < 6) return `[${few(() => anything(depth + 1)).join()}]`;
  const names = ['__proto__', 'constructor', 'a', 'é', '1', 'type'];
  return `{${few(() => `"${oneOf(...names)}":${anything(depth + 1)}`).join()}}`;
}

const part = () =>
  JSON.stringify(
    oneOf({ type: 'text', text: text() }, { type: 'refusal', refusal: text(), text: 'not this' }),
  );

function message(): string {
  const role = oneOf('system', 'user', 'assistant', 'developer');
  const contents = [JSON.stringify(text()), `[${few(part).join()}]`];
  const content = role === 'assistant' ? oneOf(...contents, 'null', undefined) : oneOf(...contents);
  const fields = [
    `"role":"${role}"`,
    ...(content === undefined ? [] : [`"content":${content}`]),
    ...(often() ? [] : [`"refusal":${oneOf('null', JSON.stringify(text()))}`]),
    ...(often() ? [] : ['"name":"Ann"', '"tool_calls":[]']),
  ];
  return `{${shuffled(fields).join()}}`;
}

const format = () =>
  oneOf(
    '{"type":"text"}',
    `{"type":"json_object","x":${anything()},"__proto__":${anything()}}`,
    `{"type":"json_schema","json_schema":{"name":"a","schema":${oneOf('null', `{"__proto__":1,"p":${anything()}}`)},"__proto__":2,"strict":true},"y":${anything()}}`,
  );

/** JSON of each field that is passed on, as the contract allows it. */
const VALUES: Readonly<Record<(typeof PASSED_FIELDS)[number], () => unknown>> = {
  temperature: () => oneOf<unknown>('null', number(0, 2)),
  top_p: () => oneOf<unknown>('null', number(0, 1)),
  top_k: () => oneOf<unknown>('null', '[]', '{}', -1, 0, 40),
  min_p: () => oneOf<unknown>('null', '[]', number(0, 1)),
  frequency_penalty: () => oneOf<unknown>('null', number(-2, 2)),
  presence_penalty: () => oneOf<unknown>('null', number(-2, 2)),
  repetition_penalty: () => oneOf<unknown>('null', '{}', number(0, 2)),
  logit_bias: () => oneOf<unknown>('null', '{}', '{"50":-1.5,"7":1e2}'),
  seed: () => oneOf<unknown>('null', '7.0', -(2 ** 53 - 1)),
  stop: () => oneOf<unknown>('null', '"END"', '[]', '["a", "é"]'),
  response_format: () => oneOf<unknown>('null', '[]', '{}', format()),
  reasoning_effort: () => oneOf<unknown>('null', '[]', '"low"', '"none"'),
  chat_template_kwargs: () =>
    oneOf<unknown>(
      'null',
      '[]',
      `{"a":${anything()},"__proto__":${anything()}}`,
      '{"__proto__":1}',
    ),
};

function body(): string {
  const passed = PASSED_FIELDS.filter(often).map((field) => `"${field}":${VALUES[field]()}`);
  const others = ['"stream":true', '"max_tokens":9', '"max_credits":3', '"user":"u"', '"tools":[]'];
  const fields = [
    `"model": ${JSON.stringify(oneOf('qwen3-8b', 'é'))}`,
    `"messages" : [${[message(), ...few(message)].join(' ,\n')}]`,
    ...[...passed, ...others.filter(often)],
  ];
  return `{${shuffled(fields).join(',\r\n')}}`;
}

function shuffled<Value>(values: readonly Value[]): Value[] {
  return values
    .map((value) => ({ value, at: random.below(1_000_000) }))
    .sort((one, other) => one.at - other.at)
    .map(({ value }) => value);
}

describe(`a saved request (seed ${random.seed})`, () => {
  it('is read as the service reads what is sent', () => {
    const seen = new Set<string>();
    for (let count = 0; count < BODIES; count += 1) {
      const sent = body();
      const given = canonicalJson(chatForWorker(parseChatCompletion(parseJson(sent))));
      expect({ sent, chat: canonicalJson(readRequest(sent).chat) }).toEqual({ sent, chat: given });
      for (const field of Object.keys(JSON.parse(given))) seen.add(field);
    }
    expect([...seen].sort()).toEqual(['messages', 'model', ...PASSED_FIELDS].sort());
  });

  it('keeps the keys that its client named, behind a file with others', () => {
    const read = (json: string) =>
      readRequest(`{"model":"a","messages":[],"chat_template_kwargs":${json}}`).chat;
    read('{"a":1,"\\\\":2}');
    expect(read('{"a":1,"\\u00fc":2}')).toMatchObject({ chat_template_kwargs: { ü: 2 } });
  });

  it.each<[string, string, RegExp]>([
    ['an answer', '{"id":"chatcmpl-1","choices":[]}', /^It is no request: save the JSON body/],
    ['no JSON', 'curl -d …', /^It is no request/],
    ['messages without a model', '{"messages":[]}', /^It is no request/],
    [
      'a number that readers read differently',
      '{"model":"a","messages":[],"chat_template_kwargs":{"a":9007199254740993}}',
      /^The request has no canonical form: A whole number is beyond 2\^53\.$/,
    ],
    ...['{"type":"image_url","image_url":{"url":"x"}}', '{"text":"a"}', '"a"'].map(
      (one): [string, string, RegExp] => [
        `a part that is no text, ${one}`,
        `{"model":"a","messages":[{"role":"user","content":[{"type":"text","text":"b"},${one}]}]}`,
        /^It has a part that is no text\.$/,
      ],
    ),
    [
      'what is nested deeply',
      `{"model":"a","messages":[],"chat_template_kwargs":{"a":${'['.repeat(99_999)}${']'.repeat(99_999)}}}`,
      /^It is nested deeper than 512 levels\.$/,
    ],
  ])('is refused for %s', (_what, saved, reason) => {
    const read = () => readRequest(saved);
    expect(read).toThrow(SavedFileError);
    expect(read).toThrow(expect.objectContaining({ message: expect.stringMatching(reason) }));
  });
});
