import { describe, expect, it } from '@jest/globals';
import { PASSED_FIELDS } from '../../common/workerProtocol.ts';
import { canonicalJson } from '../../programs/client/proof.ts';
import { differenceOf } from '../../programs/client/verify/answer/nearTexts.ts';
import { readAnswer } from '../../programs/client/verify/answer/readAnswer.ts';
import { REQUEST_FIELDS } from '../../programs/client/verify/answer/requestFields.ts';
import { SavedFileError } from '../../programs/client/verify/answer/savedFile.ts';
import { readRequest } from '../../programs/client/verify/answer/sentRequest.ts';
import { createRandom } from '../../testing/random.ts';
import { drawAsked, givenToWorker } from '../receipts/pythonRequests.ts';
import { COMMITTED, JOB_CASES } from '../receipts/vectors/committed.ts';
import { judgeJob } from '../receipts/vectors/runCase.ts';

/** A saved answer of the vectors. */
function savedAs(name: string): string {
  const one = COMMITTED.cases.find((each) => each.kind === 'answer' && each.name === name);
  if (one?.kind !== 'answer' || !('saved' in one.input)) throw new Error(`there is no ${name}`);
  return one.input.saved;
}

const JOB = 'job_[0-9a-f]{32}';

// What is refused is in the vectors; these are the words for it.
describe('a saved answer', () => {
  it.each<[string, RegExp]>([
    [
      'a stream that ended in an error',
      new RegExp(`^It is an error, not an answer\\. It says: No\\. Its job is ${JOB}: `),
    ],
    [
      'a stream that ends before its finish reason',
      /^It ends before the answer does, .* Idempotency-Key\./,
    ],
    ['the request', /^It is a request, not an answer\.$/],
    ['a page', /^It holds no answer of a chat completion/],
    ['an answer that names no job', /^It names no job: .* Is it an answer of this service\?$/],
    [
      'answers of two jobs',
      new RegExp(`^It holds answers of several jobs, ${JOB} and ${JOB}: save`),
    ],
    ['a choice with a message and a delta', /^It holds both a message and a delta\.$/],
    ['a plain answer as an event', /^Its events hold a message for a delta\.$/],
    ['two choices', /^It holds several choices, and one alone is proven\.$/],
    ['two plain answers', /^It holds several answers: save one\.$/],
    ['a text in an event of a name', /^Not all clients read each of its events\.$/],
    ['a text behind [DONE]', /^It goes on behind its \[DONE\]\.$/],
    ['a text behind its finish reason', /^It goes on behind its finish reason\.$/],
    ['choices that are no list', /^Its choices are no list\.$/],
    ['a tool call', /^Not all clients read its tool_calls alike\.$/],
    ['a link to another job', /^Its svc\.verify_url, \S+, is not of job_/],
    ['a salt of another form', /^Its svc\.request_salt has another form\.$/],
    ['a cost that is no number', /^Its usage\.cost has another form\.$/],
    ['a content that is no text', /^Its content is no text\.$/],
    ['words behind a plain answer', /^It is not JSON at character \d+\.$/],
    ['an event that is not JSON', /^Event \d+ is not JSON\.$/],
    ['responses: beside a chunk', /^It holds answers of two formats\.$/],
    ['responses: two', /^It holds several answers: save one\.$/],
    ['responses: in progress', /^It ends before the answer does, /],
    ['responses: a delta that is missing', /^Not all clients read its output alike\.$/],
    ['responses: an event of no name among others', /^Not all clients read each of its events\.$/],
  ])('is refused with the reason for %s', (name, reason) => {
    const read = () => readAnswer(savedAs(`refused: ${name}`));
    expect(read).toThrow(SavedFileError);
    expect(read).toThrow(expect.objectContaining({ message: expect.stringMatching(reason) }));
  });

  it.each(['request_commitment', 'answer_details'])('without %s is of a former form', (half) => {
    const saved = savedAs('a plain answer').replace(new RegExp(`"${half}":"[0-9a-f]{64}",`), '');
    expect(() => readAnswer(saved)).toThrow(/^It is of a former form of the service, /);
  });

  it('keeps reasoning apart from the proven text', () => {
    const [first, ...others] = savedAs('a stream').split('\n\n');
    const thinking = (text: string) =>
      first?.replace(/"delta":\{.*?\}/, `"delta":{"reasoning_content":"${text}"}`);
    const saved = [thinking('Hm'), thinking('.'), ...others].join('\n\n');
    const { text } = readAnswer(savedAs('a stream'));
    const read = readAnswer(saved);
    expect(read.text).toBe(text);
    expect(read.details?.reasoning).toMatch(/^Hm\./);
  });

  it('has only what it says itself, with fields of any name', () => {
    const plain = savedAs('a plain answer');
    const fields = '"__proto__":{"choices":[],"id":"x"},"constructor":{"prototype":{"svc":1}}';
    expect(readAnswer(plain.replace('{', `{${fields},`))).toEqual(readAnswer(plain));
    expect(() => readAnswer(`{"__proto__":${plain}}`)).toThrow(/^It holds no answer/);
  });

  const SIZE = 4_000_000;
  it.each([
    ['lists in lists', '['.repeat(SIZE)],
    ['objects in objects', '{"a":'.repeat(SIZE / 5)],
    ['empty objects', '{}'.repeat(SIZE / 2)],
    ['empty lines', `data: {}${'\n'.repeat(SIZE)}`],
    ['lines of one event', 'data: 1\n'.repeat(SIZE / 8)],
    ['a text without an end', `{"a":"${'\\"'.repeat(SIZE / 2)}`],
    ['heads', 'HTTP/1.1 100\n\n'.repeat(SIZE / 14)],
    ['a link', savedAs('a plain answer').replace('https:', `https:${'1'.repeat(SIZE)}`)],
    ['a message', JSON.stringify({ error: { message: '\u001b '.repeat(SIZE / 7) } })],
    ['trailers', `${savedAs('a plain answer')}\n${'x: y\n'.repeat(SIZE / 5)}`],
    ['bytes', new Uint8Array(8 * 1_024 * 1_024 + 1)],
  ])('is refused without harm for millions of %s', (_what, saved) => {
    expect(() => readAnswer(saved)).toThrow(SavedFileError);
  });

  it('is read with a text of many megabytes', () => {
    const long = 'word '.repeat(1_700_000);
    const choices = [{ message: { content: long }, finish_reason: 'stop' }];
    const saved = JSON.stringify({ ...JSON.parse(savedAs('a plain answer')), choices });
    expect(() => readAnswer(saved)).toThrow('It has more than 8388608 bytes');
    expect(readAnswer(Buffer.from(saved), saved.length).text === long).toBe(true);
  });
});

const random = createRandom();
const TOOL_FIELDS = ['tools', 'tool_choice', 'parallel_tool_calls'];

describe(`a saved request (seed ${random.seed})`, () => {
  it('is read as the service reads what is sent', () => {
    const seen = new Set<string>();
    for (let count = 0; count < 1_000; count += 1) {
      const { body, given } = drawAsked(random);
      const chat = canonicalJson(readRequest(body).chat);
      expect({ body, chat }).toEqual({ body, chat: canonicalJson(given) });
      for (const field of Object.keys(given)) seen.add(field);
    }
    const all = ['messages', 'model', ...PASSED_FIELDS, ...TOOL_FIELDS];
    expect([...seen].sort()).toEqual(all.sort());
  });

  it('refuses what the service refuses, and leaves out what it leaves out', () => {
    const readers = [givenToWorker, readRequest];
    const bodyWith = (field: string, value: unknown) =>
      JSON.stringify({ model: 'a', messages: [{ role: 'user', content: '?' }], [field]: value });
    for (const [field, off] of Object.entries(REQUEST_FIELDS.off)) {
      for (const value of [null, [], {}, ...off]) {
        for (const read of readers) read(bodyWith(field, value));
      }
      const refused = bodyWith(field, [7]);
      for (const read of readers) expect(() => read(refused)).toThrow(field);
    }
    const nothing = readRequest(bodyWith('user', null)).chat;
    for (const field of REQUEST_FIELDS.left_out) {
      expect([field, readRequest(bodyWith(field, 1))]).toMatchObject([field, { unknown: [] }]);
      if (/^stream/.test(field)) continue;
      expect(givenToWorker(bodyWith(field, 1))).toEqual(JSON.parse(JSON.stringify(nothing)));
    }
    for (const [field, value] of [
      ...TOOL_FIELDS.map((one) => [one, {}]),
      ['tool_choice', 'none'],
    ]) {
      const without = bodyWith(String(field), value);
      for (const read of [givenToWorker, (body: string) => readRequest(body).chat]) {
        expect(JSON.parse(JSON.stringify(read(without)))).toEqual(
          JSON.parse(JSON.stringify(nothing)),
        );
      }
    }
    const other = { role: 'user', content: '?', prefix: true };
    expect(readRequest(bodyWith('messages', [other, other])).unknown).toContain('messages.prefix');
  });

  it('keeps the keys that its client named, behind a file with others', () => {
    const read = (json: string) =>
      readRequest(`{"model":"a","messages":[],"chat_template_kwargs":${json}}`).chat;
    read('{"a":1,"\\\\":2}');
    expect(read('{"a":1,"\\u00fc":2}')).toMatchObject({ chat_template_kwargs: { ü: 2 } });
  });

  const kwargs = (json: string) => `{"model":"a","messages":[],"chat_template_kwargs":${json}}`;
  it.each<[string, string, RegExp]>([
    ['an answer', '{"id":"chatcmpl-1","choices":[]}', /^It is no request: save the JSON body/],
    [
      'a number that readers read differently',
      kwargs('{"a":9007199254740993}'),
      /^The request has no canonical form: A whole number is beyond 2\^53\.$/,
    ],
    [
      'an image',
      '{"model":"a","messages":[{"role":"user","content":[{"type":"image_url"}]}]}',
      /^It has a part that is no text\.$/,
    ],
    [
      'what is nested deeply',
      kwargs(`{"a":${'['.repeat(99_999)}${']'.repeat(99_999)}}`),
      /^It is nested deeper than 512 levels\.$/,
    ],
  ])('is refused for %s', (_what, saved, reason) => {
    const read = () => readRequest(saved);
    expect(read).toThrow(SavedFileError);
    expect(read).toThrow(expect.objectContaining({ message: expect.stringMatching(reason) }));
  });
});

describe('a text that is not the proven one', () => {
  /** All combinations of what differs, and no more. */
  const TRIES_MAX = 150;
  const TEXT = ' Où?\n\nHere,\nas “said”. ';
  const differenceFrom = (proven: string, given: string) =>
    differenceOf([given], ([text]) => text === proven);

  it.each<[string, string, string]>([
    ['a newline at the end', TEXT, `${TEXT}\n`],
    ['a newline at the end', TEXT, `${TEXT}\r\n`],
    ['white space at the end', TEXT.trimEnd(), `${TEXT} \n\n`],
    ['white space at the start', TEXT.trimStart(), TEXT],
    ['white space at start and end', TEXT.trim(), TEXT],
    ['white space that is missing at the end', TEXT, TEXT.trimEnd()],
    ['white space that is missing at the end', `${TEXT}\n\n`, TEXT],
    ['white space that is missing at the start', TEXT, TEXT.trimStart()],
    ['line ends, CR LF for LF', TEXT, TEXT.replaceAll('\n', '\r\n')],
    ['line ends, LF for CR LF', 'a\r\nb\r\n', 'a\nb\n'],
    ['line ends, CR for LF', TEXT, TEXT.replaceAll('\n', '\r')],
    ['the Unicode normal form, which was NFC', TEXT, TEXT.normalize('NFD')],
    ['the Unicode normal form, which was NFD', TEXT.normalize('NFD'), TEXT],
    ['a byte order mark', TEXT, `\ufeff${TEXT}`],
    ['the escapes of JSON', TEXT, JSON.stringify(TEXT)],
    ['the escapes of JSON', TEXT, JSON.stringify(TEXT).slice(1, -1)],
    [
      'a byte order mark, and line ends, CR LF for LF, and a newline at the end',
      TEXT,
      `\ufeff${TEXT.replaceAll('\n', '\r\n')}\r\n`,
    ],
    [
      'the Unicode normal form, which was NFC, and white space that is missing at the end',
      TEXT,
      TEXT.normalize('NFD').trimEnd(),
    ],
  ])('differs from it in %s', (what, proven, given) => {
    expect(differenceFrom(proven, given)).toBe(what);
  });

  it.each([`${TEXT}x`, TEXT.toUpperCase(), 'Où?  Here, as “said”.', '', 'the regex \\ud800 of it'])(
    'differs from it in more than such things: %j',
    (given) => {
      expect(differenceFrom(TEXT, given)).toBeUndefined();
    },
  );

  it('is compared with few texts, each of the kinds once', () => {
    const tried: string[] = [];
    const given = ['\ufeff"e\u0301\\r\\n\u00e9" '];
    expect(differenceOf(given, ([text = '']) => !tried.push(text))).toBeUndefined();
    expect(tried.length).toBeLessThan(TRIES_MAX);
  });

  it('is compared at once where it has many marks in a row', () => {
    const marks = `a${'\u0301'.repeat(200_000)}${'\u0323'.repeat(200_000)}`;
    expect(differenceFrom(TEXT, marks)).toBeUndefined();
    const few = `a${'\u0301\u0323'.repeat(15)}`;
    expect(differenceFrom(few.normalize('NFC'), few)).toContain('which was NFC');
  });
});

describe('the words for what a client has', () => {
  /** What is said of a rule, of a case of the vectors with other evidence. */
  async function detailOf(rule: string, name: string, change: object = {}) {
    const one = JOB_CASES.find((each) => each.name === `answers: ${name}`);
    if (!one) throw new Error(`there is no case ${name}`);
    const checks = await judgeJob({ ...one, ...change }, COMMITTED.nodes);
    return checks.find((check) => check.name === rule)?.detail;
  }

  it('name the only difference of a text, or both hashes', async () => {
    expect(await detailOf('delivery.output', 'a newline more')).toBe(
      'The text differs from the proven one only in this: a newline at the end.',
    );
    expect(await detailOf('delivery.output', 'another text')).toMatch(
      /^the text's sha256 is [0-9a-f]{64}, not [0-9a-f]{64}\.$/,
    );
  });

  it('name the only difference of a question, or its statement', async () => {
    const rule = 'delivery.request';
    for (const asked of ['drawn 1', 'a question with tools: as it was sent']) {
      const request = JOB_CASES.find(({ name }) => name === `answers: ${asked}`)?.request ?? '';
      const marked = request.replaceAll('"content":"', '"content":"\ufeff');
      expect(await detailOf(rule, asked, { request: marked })).toBe(
        'The messages differ from the proven ones only in this: a byte order mark.',
      );
    }
    expect(await detailOf(rule, 'another question: another message')).toMatch(/^the statement is /);
    expect(await detailOf(rule, 'another question: another model')).toMatch(
      /^The request names the model llama-3\.2-3b-instruct, .* for qwen3-8b\.$/,
    );
  });

  it('name what an answer says otherwise, without what steers a terminal', async () => {
    const rule = 'delivery.answer';
    expect(await detailOf(rule, 'it states another attempt')).toMatch(
      /^its attempt is 250, not \d+\.$/,
    );
    expect(await detailOf(rule, 'it states no worker')).toMatch(
      /^its worker is missing, not \S+\.$/,
    );
    const answer = savedAs('a plain answer').replace('"qwen3-8b"', '"\\u001b[2J\\u202e"');
    expect(await detailOf(rule, 'a plain answer', { answer })).toBe(
      'its model is [2J, not qwen3-8b.',
    );
    const card = '\u001b[2J\u202e';
    expect(await detailOf('model.card', 'a card: no JSON', { card })).toMatch(
      /^The card has no canonical form: [ -~]+$/,
    );
  });
});
