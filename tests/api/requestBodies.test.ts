import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCompletionRequest } from '../../api/contracts/chatCompletion.ts';
import { buildDocument } from '../../api/docs/document.ts';
import { SMALL_VALUES_MAX } from '../../api/http/middleware/requestBody.ts';
import { REQUEST_LIMITS } from '../../common/format.ts';
import { createDocumentValidator } from './documentValidator.ts';
import {
  type Body,
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

const valid = bodyWith();
const BYTES_MAX = 2 * 1_024 * 1_024;
const encoded = (text: string, encoding: BufferEncoding) =>
  new Uint8Array(Buffer.from(text, encoding));
/** The valid body with its text replaced by these bytes. */
const saying = (hex: string) =>
  encoded(valid.replace('hi', Buffer.from(hex, 'hex').toString('latin1')), 'latin1');
const packed = (compressed: Buffer) => new Uint8Array(compressed);
/** With white space behind it, so that it is no small body. */
const large = (body: Body) =>
  new Uint8Array(Buffer.concat([Buffer.from(body), Buffer.alloc(300_000, ' ')]));
const gzip = { 'content-encoding': 'gzip' };
const zstd = { 'content-encoding': 'zstd' };
const type = (contentType: string) => ({ 'content-type': contentType });

/** Its frame declares a window of 2^27 bytes. */
const wideZstd = packed(Buffer.from('28b52ffd00883900007b2261223a317d', 'hex'));

describe('a readable body', () => {
  it.each<[string, Body, Record<string, string>?]>([
    ['without a content type', encoded(valid, 'utf8')],
    ['as text', valid, type('text/plain')],
    ['as UTF-8, misspelt in quotes', valid, type('application/json;charset="UTF8"; x=y')],
    ['as nothing that is a type', valid, type(';;=')],
    ['after a byte order mark', `\ufeff${valid}`],
    ['in gzip', packed(gzipSync(valid)), gzip],
    ['in deflate', packed(deflateSync(valid)), { 'content-encoding': 'deflate' }],
    ['in brotli', packed(brotliCompressSync(valid)), { 'content-encoding': 'br' }],
    ['in zstd', packed(zstdCompressSync(valid)), zstd],
    ['large', large(valid), type('application/json; charset=utf8')],
    ['large, after a byte order mark', large(`\ufeff${valid}`)],
    ['large, in gzip', packed(gzipSync(large(valid))), gzip],
    ['large, in zstd', packed(zstdCompressSync(large(valid))), zstd],
    ['with white space around it', `\r\n\t ${valid}\n`],
    ['with a field named as no field can be', bodyWith({ ['__proto__']: '{"model":7}' })],
    [
      'with a field that is not ours, deep as it may be',
      bodyWith({ x: nestedArrays(REQUEST_LIMITS.depth - 1) }),
    ],
    ['with more values than a small one', bodyWith({ x: `[${'0,'.repeat(SMALL_VALUES_MAX)}0]` })],
  ])('is accepted: %s', async (_case, body, headers = {}) => {
    expect(await scene.send(body, headers)).toEqual({ status: 200, request: JSON.parse(valid) });
  });

  it('keeps every character of every script, also when it is escaped', async () => {
    const content = '日本語 \u{1f600} \0 é';
    const escaped = '"日本語 \\ud83d\\ude00 \\u0000 \\u00e9"';
    const { request } = await scene.send(
      bodyWith({ messages: `[{"role":"user","content":${escaped}}]` }),
    );
    expect(request).toMatchObject({ messages: [{ role: 'user', content }] });
  });

  it('uses the last value of a repeated field', async () => {
    const { request } = await scene.send(bodyWith({ temperature: '9,"temperature":1' }));
    expect(request).toMatchObject({ temperature: 1 });
  });
});

describe('an unreadable body', () => {
  it.each<[string, string, Body, Record<string, string>?]>([
    ['null', 'must be a JSON object', 'null'],
    ['an array', 'must be a JSON object', `[${valid}]`],
    ['half of it', 'not valid JSON', valid.slice(0, 20)],
    ['two values', 'not valid JSON', `${valid}${valid}`],
    ['a comment', 'not valid JSON', `${valid} // hi`],
    ['a raw control character', 'not valid JSON', saying('0a')],
    ['a byte of Latin-1', 'not valid UTF-8', saying('ff')],
    ['an overlong sequence', 'not valid UTF-8', saying('c0af')],
    ['a surrogate in UTF-8', 'not valid UTF-8', saying('eda080')],
    ['two values in a large one', 'not valid JSON', large(`${valid}${valid}`)],
    ['UTF-16', 'not valid UTF-8', encoded(`\ufeff${valid}`, 'utf16le')],
    ['UTF-16, as it says', 'must be utf-8', encoded(valid, 'utf16le'), type('x/y; charset=utf-16')],
    ['Latin-1, as it says', 'must be utf-8', valid, type('text/plain; charset=iso-8859-1')],
    ['an unknown encoding', 'encoding is not supported', valid, { 'content-encoding': 'snappy' }],
    ['two encodings', 'gzip, deflate, br, zstd.', valid, { 'content-encoding': 'gzip, br' }],
    ['no zstd, though it says so', 'malformed', valid, zstd],
    ['zstd with a window of 128 MiB', 'malformed', wideZstd, zstd],
    [
      'a small zstd of 64 MiB',
      '2 MiB',
      packed(zstdCompressSync(Buffer.alloc(64 << 20, ' '))),
      zstd,
    ],
    [
      'a deep one',
      'nested more than 128 levels',
      bodyWith({ x: nestedArrays(REQUEST_LIMITS.depth) }),
    ],
    ['a deep one that is large', 'nested more than 128', bodyWith({ x: nestedArrays(900_000) })],
    ['a long list', 'more than 16384 values', bodyWith({ x: `[${'{},'.repeat(99_000)}0]` })],
    ['no gzip, though it says so', 'malformed', valid, gzip],
    ['gzip cut short', 'malformed', packed(gzipSync(valid).subarray(0, -9)), gzip],
    ['a small gzip of 64 MiB', '2 MiB', packed(gzipSync(Buffer.alloc(64 << 20, ' '))), gzip],
  ])(
    'is refused with an error that names the fault: %s',
    async (_case, fault, body, headers = {}) => {
      expect(await scene.send(body, headers)).toMatchObject({
        ...refusal(null),
        error: { message: expect.stringContaining(fault) },
      });
    },
  );
});

it('a body in an encoding that is not served gets the list of those that are', async () => {
  const headers = { 'content-encoding': 'compress' };
  const answer = await scene.call('/v1/chat/completions', { body: valid, headers });
  expect(answer.headers.get('accept-encoding')).toBe('gzip, deflate, br, zstd');
});

describe('a body of 2 MiB', () => {
  it('is the largest that is accepted', async () => {
    const largest = valid.padEnd(BYTES_MAX);
    expect(await scene.send(largest)).toMatchObject({ status: 200 });
    expect(await scene.send(`${largest} `)).toMatchObject({
      ...refusal(null),
      error: { message: 'The body is larger than 2 MiB.', details: { max_bytes: BYTES_MAX } },
    });
  });

  it('is the most of sixteen clients at once, who read why more is refused', async () => {
    const sent = Array.from({ length: 16 }, () => scene.send(valid.padEnd(3 * BYTES_MAX)));
    const answers = await Promise.all(sent);
    expect(new Set(answers.map(({ error }) => error?.message))).toEqual(
      new Set(['The body is larger than 2 MiB.']),
    );
  });
});

describe('twenty large bodies of one wallet at once', () => {
  it('are read or a 429, while small ones are answered', async () => {
    const largest = valid.padEnd(2_000_000);
    const sent = Array.from({ length: 20 }, () => scene.send(largest));
    expect(await scene.send(valid)).toMatchObject({ status: 200 });
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect([200, 429]).toEqual(expect.arrayContaining([...new Set(statuses)]));
    expect(statuses).toContain(200);
  });
});

describe('the body of another request than a completion', () => {
  const send = (body: string) =>
    fetch(`${scene.url}/v1/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${scene.apiKey}` },
      body,
    }).then((response) => response.json());

  it.each([
    ['larger than 64 KiB', `{"url":"${'x'.repeat(70_000)}"}`, 'larger than 64 KiB', null],
    ['of more values', `{"events":[${'0,'.repeat(2_000)}0]}`, 'more than 1024 values', 'events'],
    ['deep', `{"events":${nestedArrays(500)}}`, 'nested more than 128 levels', 'events'],
  ])('is refused: %s', async (_what, body, words, param) => {
    expect(await send(body)).toEqual({
      error: expect.objectContaining({ message: expect.stringContaining(words), param }),
    });
  });
});

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
    ['messages', nestedArrays(100_000)],
    ['messages[1].role', '[{"role":"user","content":""},{"role":"tool","content":""}]', 'messages'],
    ['tools', nestedArrays(100_000)],
    ['logit_bias', '{"word":1}'],
  ])("is refused with the field's name: %s %#", async (param, json, field = param) => {
    expect(await scene.send(bodyWith({ [field]: json }))).toMatchObject(refusal(param));
  });
});
