import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCompletionRequest } from '../../api/contracts/chatCompletion.ts';
import { buildDocument } from '../../api/docs/document.ts';
import { createDocumentValidator } from './documentValidator.ts';
import {
  bodyWith,
  nestedArrays,
  openRequestScene,
  type RequestScene,
  refusal,
} from './requestScene.ts';

let scene: RequestScene;

beforeAll(async () => {
  scene = await openRequestScene();
});

afterAll(() => scene.close());

describe('every field of a completion', () => {
  const document = buildDocument('https://api.example.com');
  const validate = createDocumentValidator(document);
  const properties = document.components.schemas.ChatCompletionRequest?.properties ?? {};
  const fields = Object.keys(properties);
  const values = [
    ...['null', 'true', 'false', '[]', '{}', '[1]', '["x"]', '[null]', '[{}]', '[[]]', '"5"'],
    ...['0', '-0', '1', '1e0', '1.5', '2', '2.1', '-2', '-2.1', '1e400', '-1e400'],
    ...['2147483647', '2147483648', '9007199254740991', '9007199254740992', '-9007199254740992'],
    ...['["text"]', '["text","audio"]', '"none"'],
    ...['{"include_usage":true}', '{"include_usage":1}'],
    ...['""', '"x"', JSON.stringify('x'.repeat(256)), JSON.stringify('x'.repeat(257))],
    ...[JSON.stringify('\u{1f600}'.repeat(256)), JSON.stringify('\u{1f600}'.repeat(257))],
    ...[JSON.stringify(Array(16).fill('x')), JSON.stringify(Array(17).fill('x'))],
  ];

  /** Beside those for all: the document says of other objects that more fields are ignored. */
  const ownValues: Record<string, string[]> = {
    response_format: [
      ...['{"type":"text"}', '{"type":"json_object"}', '{"type":["text"]}', '{"type":"xml"}'],
      '{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object"}}}',
    ],
  };

  it.each(fields)('is accepted and refused as documented: %s', async (field) => {
    const tried = [...values, ...(ownValues[field] ?? [])];
    const answers = await Promise.all(
      tried.map(async (json) => ({ json, ...(await scene.send(bodyWith({ [field]: json }))) })),
    );

    for (const [index, json] of tried.entries()) {
      const body = JSON.parse(bodyWith({ [field]: json }));
      const faults = validate({ $ref: '#/components/schemas/ChatCompletionRequest' }, body);
      const isFault = faults.some(({ keyword }) => keyword !== 'additionalProperties');
      const path = expect.stringMatching(new RegExp(`^${field}\\b`));
      const expected = isFault ? refusal(path) : { status: 200, request: {} };
      expect(answers[index]).toMatchObject({ json, ...expected });
    }
  });

  it('is described with its range', () => {
    const isBare = (field: string) =>
      Object.keys(properties[field] ?? {}).every((keyword) => keyword === 'description');
    expect(fields.filter(isBare)).toEqual([]);
    expect(fields).toEqual(Object.keys(chatCompletionRequest.shape));
  });
});

describe('a field whose keys the client names', () => {
  it('keeps them behind a body with others', async () => {
    const field = (json: string) => bodyWith({ chat_template_kwargs: json });
    await scene.send(field('{"a":1,"\\\\":2}'));
    const { request } = await scene.send(field('{"a":1,"\\u00fc":2}'));
    expect(request).toMatchObject({ chat_template_kwargs: { ü: 2 } });
  });
});

describe('a value that no model could use', () => {
  it.each([
    ['seed', '9007199254740993'],
    ['messages', `[${Array(2_049).fill('{"role":"user","content":""}').join()}]`],
    ['messages', nestedArrays(100_000)],
    ['messages[1].role', '[{"role":"user","content":""},{"role":"tool","content":""}]', 'messages'],
    ['messages[0].content', '[{"role":"user","content":"\\udc00\\ud800"}]', 'messages'],
    ['max_completion_tokens', '2,"max_tokens":3'],
    ['tools', nestedArrays(100_000)],
    ['logit_bias', '{"word":1}'],
  ])("is refused with the field's name: %s %#", async (param, json, field = param) => {
    expect(await scene.send(bodyWith({ [field]: json }))).toMatchObject(refusal(param));
  });
});
