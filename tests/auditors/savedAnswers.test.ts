import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { readAnswer } from '../../programs/client/verify/answer/readAnswer.ts';
import { SavedFileError } from '../../programs/client/verify/answer/savedFile.ts';

const JOB = 'job_01a1fd5d5d467000a1b2d1b31219e46b';
const OTHER = 'job_01a1fd5d5d467000a1b2d1b31219e46c';
const WALLET = Keypair.generate().publicKey.toBase58();
const TEXT = 'A lock\\\r\nis set before — "work" — begins.\n';
const SVC = {
  job_id: JOB,
  worker: Keypair.generate().publicKey.toBase58(),
  attempt: 1,
  credits_charged: 3,
  usdc_value: 0.03,
  output_hash: `sha256:${'ab'.repeat(32)}`,
  request_salt: 'cd'.repeat(32),
  delivery_receipt: `${WALLET}.${'A'.repeat(86)}`,
  escrow_tx: '5'.repeat(88),
  verify_url: `https://api.example.com/verify/${JOB}#wallet=${WALLET}`,
};
/** As the service writes it. */
const SAID = { ...SVC, settlement_tx: null };

const id = `chatcmpl-${JOB}`;
const plain = {
  ...{ id, object: 'chat.completion', created: 1, model: 'qwen3-8b' },
  choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 9, total_tokens: 10, cost: 0.03 },
  svc: SAID,
};
const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  ...{ id, object: 'chat.completion.chunk', created: 1, model: 'qwen3-8b' },
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
const CHUNKS = [
  chunk({ role: 'assistant', content: TEXT.slice(0, 7) }),
  chunk({ content: TEXT.slice(7) }),
  chunk({}, 'stop', { svc: SAID }),
  { ...chunk({}), choices: [], usage: plain.usage },
];
const LINES = CHUNKS.map((one) => JSON.stringify(one));
const streamOf = (lines: readonly string[], end = '\n') =>
  [...lines, '[DONE]'].map((line) => `data: ${line}${end}${end}`).join('');

const nestedIn = (levels: number): string =>
  JSON.stringify(plain).replace(
    '"svc":{',
    `"svc":{"z":${'['.repeat(levels)}${']'.repeat(levels)},`,
  );

const HEADERS = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nx-svc-job-id: job_1\r\n\r\n';
const TRAILERS = 'x-svc-settlement-tx: 5abc\r\nserver-timing: lock;dur=3\r\n';
const EXPECTED = {
  ...{ jobId: JOB, text: TEXT, model: 'qwen3-8b', svc: SVC, wallet: WALLET },
  reasoning: undefined,
  usage: { 'usage.cost': 0.03, 'usage.prompt_tokens': 1, 'usage.completion_tokens': 9 },
};

describe('a saved answer', () => {
  it.each<[string, string]>([
    ['a plain answer', JSON.stringify(plain)],
    ['a plain answer in lines', JSON.stringify(plain, null, 2)],
    ['a plain answer with headers', `${HEADERS}${JSON.stringify(plain)}\n`],
    [
      'a plain answer of HTTP/2 behind a proxy and an early status',
      `HTTP/1.1 200 Connection established\r\n\r\nHTTP/2 100 \n\nHTTP/2 200 \nvia: a\n\n${JSON.stringify(plain)}`,
    ],
    ['a plain answer with trailers', `${JSON.stringify(plain)}\r\n${TRAILERS}`],
    ['a stream', streamOf(LINES)],
    ['a stream with CR LF', streamOf(LINES, '\r\n')],
    ['a stream with CR', streamOf(LINES, '\r')],
    ['a stream without its last newlines', streamOf(LINES).trimEnd()],
    ['a stream without spaces', streamOf(LINES).replaceAll('data: ', 'data:')],
    [
      'a stream with comments, ids and events',
      `: hello\n\n${streamOf(LINES).replace('\n\n', '\nid: 1\nevent: message\n:\n\n')}`,
    ],
    ['a stream with headers and trailers', `${HEADERS}${streamOf(LINES)}\r\n${TRAILERS}`],
    ['a stream without [DONE]', streamOf(LINES).replace('data: [DONE]\n\n', '')],
    [
      'a stream with data in several lines',
      CHUNKS.map((one) => `${JSON.stringify(one, null, 1).replace(/^/gm, 'data: ')}\n\n`).join(''),
    ],
    ['a stream without its empty lines', streamOf(LINES).replaceAll('\n\n', '\n')],
    ['a stream with an event of a name', `event: ping\ndata: {}\n\n${streamOf(LINES)}`],
    ['a stream with a name that is taken back', `event: ping\nevent\n${streamOf(LINES)}`],
    ['an array of chunks', JSON.stringify(CHUNKS)],
    ['an array of chunks in lines', JSON.stringify(CHUNKS, null, 2)],
    ['chunks, one in a line', LINES.join('\n')],
    ['chunks, one behind the other', CHUNKS.map((one) => JSON.stringify(one, null, 2)).join('\n')],
    ['a plain answer with lists in lists', nestedIn(510)],
    ['an array of one answer', JSON.stringify([plain])],
    ['a file with a byte order mark', `\ufeff${JSON.stringify(plain)}`],
  ])('is read from %s', (_form, saved) => {
    expect(readAnswer(saved)).toEqual(EXPECTED);
    expect(readAnswer(Buffer.from(saved))).toEqual(EXPECTED);
  });

  it.each([
    ['little', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['big', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ])('is read in UTF-16, its %s end first', (_end, encode) => {
    expect(readAnswer(encode(streamOf(LINES, '\r\n')))).toEqual(EXPECTED);
  });

  it('keeps reasoning apart from the proven text', () => {
    const thinking = chunk({ reasoning_content: 'Hm' });
    const saved = JSON.stringify([thinking, chunk({ reasoning_content: '.' }), ...CHUNKS]);
    expect(readAnswer(saved)).toEqual({ ...EXPECTED, reasoning: 'Hm.' });
  });

  it('has its job and its text without svc, too', () => {
    const { svc: _, ...without } = plain;
    expect(readAnswer(JSON.stringify(without))).toEqual({
      ...EXPECTED,
      ...{ svc: undefined, wallet: undefined },
    });
  });

  it('names no wallet where the first one of its link is empty', () => {
    const saved = JSON.stringify(plain).replace('#wallet=', '#wallet=&wallet=');
    expect(readAnswer(saved).wallet).toBeUndefined();
  });

  it('says what its last svc says', () => {
    const [first, second, finish] = CHUNKS as [object, object, { svc: object }];
    const early = { ...first, svc: { ...SAID, credits_charged: 40, attempt: 9 } };
    expect(readAnswer(JSON.stringify([early, second, finish])).svc).toEqual(SVC);
    const late = { ...chunk({}), svc: { ...SAID, credits_charged: 40 } };
    const { svc } = readAnswer(JSON.stringify([first, finish, late]));
    expect(svc).toEqual({ ...SVC, credits_charged: 40 });
  });

  it('leaves out what is null, and an address that is none', () => {
    const svc = {
      ...SVC,
      ...{ worker: null, delivery_receipt: null, output_hash: null, credits_charged: 0 },
      verify_url: `https://api.example.com/verify/${JOB}#wallet=x`,
    };
    const saved = JSON.stringify({
      ...plain,
      svc,
      choices: [{ message: { content: '' }, finish_reason: 'stop' }],
    });
    const read = readAnswer(saved);
    expect({ wallet: read.wallet, text: read.text }).toEqual({ wallet: undefined, text: '' });
    expect(Object.keys(read.svc ?? {})).not.toContain('worker');
  });

  it.each<[string, string | Uint8Array, RegExp]>([
    [
      'an error',
      `${HEADERS}${JSON.stringify({ error: { message: 'No worker\u001b[2J is\nthere.', code: 'x' } })}`,
      /^It is an error, not an answer\. It says: No worker \[2J is there\.$/,
    ],
    [
      'an error within a stream',
      streamOf([
        LINES[0] ?? '',
        JSON.stringify({ error: { message: 'The worker failed.' }, svc: { job_id: JOB } }),
      ]),
      new RegExp(`The worker failed\\. Its job is ${JOB}: without a text, verify that\\.$`),
    ],
    [
      'a stream without its finish chunk',
      streamOf(LINES.slice(0, 2)),
      new RegExp(`^It ends before the answer does.* Idempotency-Key\\. Its job is ${JOB}:`),
    ],
    ['a stream that was cut in a chunk', streamOf(LINES).slice(0, 700), /^It ends before the/],
    ['a plain answer that was cut', JSON.stringify(plain).slice(0, -9), /^It ends before the/],
    ['chunks that were cut', LINES.join('\n').slice(0, -9), /^It ends before the answer does/],
    ['a request', '{"model":"a","messages":[]}', /^It is a request, not an answer\.$/],
    ['a page', '<!doctype html><p>No</p>', /^It holds no answer of a chat completion/],
    ['nothing', '', /^It holds no answer of a chat completion/],
    ['headers alone', HEADERS, /^It holds no answer of a chat completion/],
    ['bytes of no text', Uint8Array.of(0x7b, 0xff, 0xff, 0x7d), /^It is no text in UTF-8/],
    [
      'an answer of another service',
      JSON.stringify({ ...plain, id: 'chatcmpl-1', svc: undefined }),
      /^It names no job: .* Is it an answer of this service\?$/,
    ],
    [
      'answers of two jobs',
      LINES.join('\n').replace(JOB, OTHER),
      new RegExp(`^It holds answers of several jobs, ${OTHER} and ${JOB}: save one\\.$`),
    ],
    [
      'a choice with a message and a delta',
      JSON.stringify({ ...plain, choices: [{ ...plain.choices[0], delta: { content: 'No.' } }] }),
      /^It holds both a message and a delta\.$/,
    ],
    [
      'a plain answer as an event',
      streamOf([JSON.stringify(plain)]),
      /^Its events hold a message for a delta\.$/,
    ],
    [
      'two choices',
      JSON.stringify({ ...plain, choices: [...plain.choices, ...plain.choices] }),
      /^It holds several choices, and one alone is proven\.$/,
    ],
    [
      'a choice of another index',
      streamOf(LINES).replace('"index":0', '"index":1'),
      /^It holds several choices, and one alone is proven\.$/,
    ],
    [
      'an answer without a finish reason',
      JSON.stringify(plain).replace('"finish_reason":"stop"', '"finish_reason":null'),
      /^It ends before the answer does/,
    ],
    ['one answer twice', JSON.stringify([plain, plain]), /^It holds several answers: save one\.$/],
    [
      'an event of a name with a part of the answer',
      `event: ping\ndata: ${LINES[0]}\n\n${streamOf(LINES)}`,
      /^Not all clients read each of its events\.$/,
    ],
    [
      'an event that is a list',
      `data: [${LINES[0]}]\n\n${streamOf(LINES)}`,
      /^Not all clients read each of its events\.$/,
    ],
    [
      'data behind white space',
      ` ${streamOf(LINES)}`,
      /^Not all clients read each of its events\.$/,
    ],
    [
      'data behind a byte order mark',
      streamOf(LINES).replace('\n\n', '\n\n\ufeff'),
      /^Not all clients read each of its events\.$/,
    ],
    [
      'a text behind [DONE]',
      `data: [DONE]\n\n${streamOf(LINES)}`,
      /^It goes on behind its \[DONE\]\.$/,
    ],
    [
      'a text behind the finish reason',
      JSON.stringify([...CHUNKS, CHUNKS[0]]),
      /^Its text goes on behind its finish reason\.$/,
    ],
    [
      'choices that are no list',
      streamOf([JSON.stringify({ ...CHUNKS[0], choices: { 0: CHUNKS[0] } }), ...LINES]),
      /^Its choices are no list\.$/,
    ],
    ...['refusal', 'tool_calls', 'function_call', 'audio'].map(
      (field): [string, string, RegExp] => [
        `a text beside a ${field}`,
        streamOf([JSON.stringify(chunk({ [field]: [{}] })), ...LINES]),
        new RegExp(`^Its ${field} is not proven\\.$`),
      ],
    ),
    [
      'a link of another job',
      JSON.stringify(plain).replace(`verify/${JOB}`, `verify/${OTHER}`),
      /^Its svc\.verify_url, \S+, is not of job_/,
    ],
    [
      'a salt that is none',
      JSON.stringify(plain).replace('cdcd', 'xxxx'),
      /^Its svc\.request_salt has another form\.$/,
    ],
    [
      'a count that is none',
      JSON.stringify(plain).replace('"completion_tokens":9', '"completion_tokens":"9"'),
      /^Its usage\.completion_tokens has another form\.$/,
    ],
    [
      'a content that is no text',
      JSON.stringify({ ...plain, choices: [{ message: { content: 1 } }] }),
      /^Its content is no text\.$/,
    ],
    [
      'a link with another space',
      JSON.stringify(plain).replace('https://', 'https://\u00a0'),
      /^Its svc\.verify_url has another form\.$/,
    ],
    ['lists in many lists', nestedIn(511), /^It is nested deeper than 512 levels\.$/],
    [
      'more trailers than there are',
      `${JSON.stringify(plain)}\n${'x: y\n'.repeat(13_200)}{"error":{"message":"No."}}`,
      /^It has more than 64 KiB behind the answer\.$/,
    ],
    ['what follows it', `${JSON.stringify(plain)} and more`, /^It is not JSON at character \d+\.$/],
    ['a broken event in the middle', streamOf(['{', ...LINES]), /^Event 1 is not JSON\.$/],
  ])('is refused with the reason for %s', (_what, saved, reason) => {
    const read = () => readAnswer(saved);
    expect(read).toThrow(SavedFileError);
    expect(read).toThrow(expect.objectContaining({ message: expect.stringMatching(reason) }));
  });

  it('has only what it says itself, with fields of any name', () => {
    const fields = '"__proto__":{"choices":[],"id":"x"},"constructor":{"prototype":{"svc":1}}';
    const saved = JSON.stringify(plain).replace('{', `{${fields},`);
    expect(readAnswer(saved)).toEqual(EXPECTED);
    const inherited = `{"__proto__":${JSON.stringify(plain)}}`;
    expect(() => readAnswer(inherited)).toThrow(/^It holds no answer/);
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
    ['a link', JSON.stringify({ ...plain, svc: { ...SVC, verify_url: '1'.repeat(SIZE) } })],
    ['a message', JSON.stringify({ error: { message: '\u001b '.repeat(SIZE / 7) } })],
    ['bytes', new Uint8Array(64 * 1_024 * 1_024 + 1)],
  ])('is refused without harm for millions of %s', (_what, saved) => {
    expect(() => readAnswer(saved)).toThrow(SavedFileError);
  });

  it('is read with a text of many megabytes', () => {
    const long = 'word '.repeat(2_000_000);
    const saved = JSON.stringify({
      ...plain,
      choices: [{ message: { content: long }, finish_reason: 'stop' }],
    });
    expect(readAnswer(Buffer.from(saved)).text === long).toBe(true);
  });
});
