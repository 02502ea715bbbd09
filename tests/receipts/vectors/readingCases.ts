import { bytesToHex, utf8 } from '../../../programs/client/platform/bytes.ts';
import type { AnsweredJob } from './answeredJob.ts';
import type { AnyUnitCase } from './cases.ts';

const TEXT = 'Ja.';
const REFUSED = { refused: true };

/** Saved answers of a few words, each for one condition of how an answer is read. */
export function readingCases(answer: AnsweredJob, other: AnsweredJob): AnyUnitCase[] {
  const forms = createForms(answer, other);
  const { job_id, verify_url } = forms.svc;
  const wallet = verify_url.slice(verify_url.indexOf('=') + 1);
  const expected = { job_id, wallet, text: TEXT, request_salt: null, delivery_receipt: null };
  const reading = (name: string, input: object, result: object) =>
    ({ kind: 'answer', name, input, expected: result }) as AnyUnitCase;
  const saved = (texts: Readonly<Record<string, string>>, result: object, prefix = '') =>
    Object.entries(texts).map(([name, text]) =>
      reading(`${prefix}${name}`, { saved: text }, result),
    );
  const bytes = Object.entries(bytesOf(forms.plain({}))).map(([name, given]) =>
    reading(name, { bytes: bytesToHex(given) }, name.startsWith('refused') ? REFUSED : expected),
  );
  return [
    ...saved(sameText(forms), expected),
    ...saved(withoutWallet(forms), { ...expected, wallet: null }),
    ...Object.entries(otherTexts(forms)).map(([name, [text, is]]) =>
      reading(name, { saved: text }, { ...expected, text: is }),
    ),
    ...saved({ ...brokenText(forms), ...brokenAnswer(forms) }, REFUSED, 'refused: '),
    ...saved(brokenFields(forms), REFUSED, 'refused: '),
    ...bytes,
  ];
}

type Forms = ReturnType<typeof createForms>;
type Fields = Readonly<Record<string, unknown>>;

function createForms(answer: AnsweredJob, other: AnsweredJob) {
  const { job_id, verify_url } = answer.svc as { job_id: string; verify_url: string };
  const svc = { job_id, verify_url };
  const id = `chatcmpl-${job_id}`;
  const message = { role: 'assistant', content: TEXT };
  const choice = { index: 0, message, finish_reason: 'stop' };
  const chunk = (delta: unknown, fields: Fields = {}) => ({
    ...{ id, choices: [{ index: 0, delta, finish_reason: null }] },
    ...fields,
  });
  const last = { id, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], svc };
  const plain = (fields: Fields) => JSON.stringify({ id, choices: [choice], svc, ...fields });
  return {
    ...{ svc, other: other.svc, id, chunk, last, plain },
    /** A plain answer with another part of its choice. */
    choice: (fields: Fields) => plain({ choices: [{ ...choice, ...fields }] }),
    message: (fields: Fields) =>
      plain({ choices: [{ ...choice, message: { ...message, ...fields } }] }),
    says: (fields: Fields) => plain({ svc: { ...svc, ...fields } }),
    link: (url: string) => plain({ svc: { job_id, verify_url: url } }),
    chunks: [chunk({ content: 'Ja' }), chunk({ content: '.' }), last],
  };
}

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

/** Another spelling of the same. */
function sameText(forms: Forms): Record<string, string> {
  const { svc, other, id, chunk, chunks, last, plain, choice, says, link } = forms;
  const [first, second] = chunks;
  const stream = chunks.map(event).join('');
  const url = svc.verify_url;
  const indented = JSON.stringify(last, null, 1).split('\n');
  const named = (names: string, value: unknown) => `${names}${event(value)}`;
  return {
    'headers with LF': `HTTP/2 200\nx: y\n\n${plain({})}`,
    'trailers behind a plain answer': `${plain({})}\r\nx-svc-a: b: c\r\n\r\nx-b:\n`,
    'chunks with nothing between them': chunks.map((one) => JSON.stringify(one)).join(''),
    'lists of chunks, one behind the other': `[${JSON.stringify(first)}]\n${JSON.stringify([second, last])}`,
    'lines of chunks up to [DONE]': `${chunks.map((one) => JSON.stringify(one)).join('\n')}\n[DONE]\n`,
    'an empty finish reason before the last': [
      ...chunks
        .slice(0, 2)
        .map((one) => ({ ...one, choices: [{ ...one.choices[0], finish_reason: '' }] })),
      last,
    ]
      .map(event)
      .join(''),
    'spaces about [DONE]': `${stream}data:  [DONE] \n\n`,
    'a stream with CR': stream.replaceAll('\n', '\r'),
    'an event in several lines of data': `${event(first)}${event(second)}${indented
      .map((line) => `data: ${line}\n`)
      .join('')}`,
    'an event whose last name is message': `${event(first)}${named('event:ping\nevent:message\n', second)}${event(last)}`,
    'an event whose last name is another': `event: message\nevent: ping\ndata: oops\n\n${stream}`,
    'a named event that is not JSON': `event: ping\ndata: oops\n\n${stream}`,
    'an index of null': choice({ index: null }),
    'no index': choice({ index: undefined }),
    'a delta of null beside its message': choice({ delta: null }),
    'a message of null beside a delta': [
      first,
      second,
      {
        ...last,
        choices: [{ ...last.choices[0], message: null }],
      },
    ]
      .map(event)
      .join(''),
    'a chunk whose content is null': [chunk({ content: null }), ...chunks].map(event).join(''),
    'an error of null': plain({ error: null }),
    'an id of another form': plain({ id: 'cmpl-7' }),
    'nulls for what it does not say': says(
      Object.fromEntries(
        Object.keys(other)
          .filter((field) => !(field in svc))
          .map((field) => [field, null]),
      ),
    ),
    'a field that is not known': says({ anything: [7] }),
    'lists in as many lists as may be': says({ z: nested(510) }),
    'a link of http': link(url.replace('https:', 'http:')),
    'a link with another field before its wallet': link(url.replace('#', '#a=1&')),
    'a link with a second wallet': link(`${url}&wallet=${id}`),
    'a link whose wallet has an escape': link(
      url.replace(/=(.)/, (_, letter: string) => `=%${bytesToHex(utf8(letter))}`),
    ),
  };
}

function withoutWallet({ svc, link, plain }: Forms): Record<string, string> {
  const page = svc.verify_url.replace(/#.*/, '');
  return {
    'a link without a wallet': link(page),
    'a link whose wallet is no address': link(`${page}#wallet=${'1'.repeat(31)}z0`),
    'a link whose wallet has 24 bytes': link(`${page}#wallet=${'z'.repeat(32)}`),
    'a job without a link': plain({ svc: { job_id: svc.job_id } }),
    'an id, and no svc': plain({ svc: undefined }),
  };
}

/** Each with its text. */
function otherTexts({ chunks, chunk, message, last }: Forms): Record<string, [string, string]> {
  const [first] = chunks;
  const halves = [...'\ud83d\ude00'].join('');
  const escaped = JSON.stringify(first).replace('Ja', '\\ud83d');
  const marks = '"}]{[\\';
  return {
    'a content of null': [message({ content: null }), ''],
    'no content': [message({ content: undefined }), ''],
    'halves of a character in two chunks': [
      `${escaped}\n${escaped.replace('\\ud83d', '\\ude00')}\n${JSON.stringify(last)}`,
      halves,
    ],
    'chunks whose texts have the marks of JSON': [
      [chunk({ content: marks }), chunk({ content: marks }), last]
        .map((one) => JSON.stringify(one))
        .join('\n'),
      `${marks}${marks}`,
    ],
  };
}

/** What is no whole answer. */
function brokenText({ plain, chunks, last }: Forms): Record<string, string> {
  const [first] = chunks;
  const json = plain({});
  return {
    'headers alone': 'HTTP/1.1 200 OK\r\nx: y\r\n\r\n',
    'headers that do not end': `HTTP/1.1 200 OK\r\n${json}`,
    'headers without a status': `HTTP/1.1 OK\r\n\r\n${json}`,
    'words behind a plain answer': `${json}\nwords`,
    'words behind its trailers': `${json}\nx-a: b\nwords`,
    'a trailer with a space in its name': `${json}\nx a: b`,
    'a chunk that is not JSON': `${JSON.stringify(first)}\n{oops}\n${JSON.stringify(last)}`,
    'lists in lists': `[[${json}]]`,
    'a cut value behind an answer': `${json}\n{"a":`,
    'a text that is cut behind an answer': `${json}\n["a`,
    'an event that is no JSON before others': `data: hello\n\n${chunks.map(event).join('')}`,
    'an event without data before others': `data:\n\n${chunks.map(event).join('')}`,
    'an error in an event of a name': `event: error\ndata: {"error":{}}\n\n${chunks.map(event).join('')}`,
    'brackets in an event of a name': `event: x\ndata: ${'['.repeat(513)}\n\n${chunks.map(event).join('')}`,
    'lines of chunks behind [DONE]': `${json}\n[DONE]\n${json}`,
    'an empty finish reason alone': event({
      ...first,
      choices: [{ ...first?.choices[0], finish_reason: '' }],
    }),
    'a named stream': chunks.map((one) => `event: ping\n${event(one)}`).join(''),
    'an event that is cut behind the others': `${chunks.map(event).join('')}data: {"a":\n`,
  };
}

function brokenAnswer(forms: Forms): Record<string, string> {
  const { svc, other, id, chunk, chunks, last, plain, choice, message } = forms;
  const [first, second] = chunks;
  const both = (...values: unknown[]) => values.map((one) => JSON.stringify(one)).join('\n');
  return {
    'an index in quotes': choice({ index: '0' }),
    'a finish reason that is no text': choice({ finish_reason: 7 }),
    'a content in a list': message({ content: ['Ja.'] }),
    'a content that is false': message({ content: false }),
    'a chunk whose second choice is of no index': both(
      ...[chunk({}, { choices: [{ delta: { content: 'Ja' } }, {}] }), second, last],
    ),
    'a plain answer and a chunk': `${plain({})}\n${JSON.stringify(first)}`,
    'no choices': plain({ choices: [] }),
    'choices that are no list': plain({ choices: {} }),
    'an id of another job': plain({ id: `chatcmpl-${other.job_id}` }),
    'an error beside its choices': plain({ error: {} }),
    'an error behind its chunks': both(...chunks, { error: { message: 'No.' } }),
    'a request behind its chunks': both(...chunks, { messages: [] }),
    'an id behind another prefix': plain({ id: id.replace('chatcmpl', 'cmpl'), svc: undefined }),
    'an id of another version': plain({ id: id.replace(/^(.{25})7/, '$14'), svc: undefined }),
    'a job id alone': JSON.stringify({ id, svc }),
  };
}

const KEY = '1'.repeat(32);

/** A field of another form. */
const OTHER_FORMS: Readonly<Record<string, readonly unknown[]>> = {
  job_id: [7, `job_${'G'.repeat(32)}`],
  worker: [7, KEY.slice(1), `${KEY}0`, '1'.repeat(45)],
  attempt: ['1', -1, 1.5, 2 ** 53],
  credits_charged: ['5', -5, 0.5, true],
  usdc_value: ['0.05', true],
  output_hash: ['0'.repeat(64), `sha256:${'F'.repeat(64)}`, `sha256:${'0'.repeat(65)}`],
  request_salt: ['F'.repeat(64), '0'.repeat(65), 7],
  escrow_tx: [7, `${KEY}${KEY.slice(1)}`, `${KEY}${KEY}0`, '1'.repeat(89)],
  settlement_tx: [7, 'l'.repeat(64)],
  truncated: [7],
};
const OTHER_USAGE: Readonly<Record<string, readonly unknown[]>> = {
  cost: [true],
  prompt_tokens: ['10', -1, 1.5],
  completion_tokens: ['10', -1, 2 ** 53],
};

function brokenFields({ svc, says, plain, link }: Forms): Record<string, string> {
  const page = svc.verify_url.replace(/#.*/, '');
  const links = {
    'with an é': `${svc.verify_url}&é`,
    'with a space': `${svc.verify_url}& `,
    'with a line end': `${svc.verify_url}\n`,
    'without a slash before its job': page.replace('/job_', '/xjob_'),
    'with more behind its job': `${page}/#wallet=${KEY}`,
    'with its job behind the #': `https://svc.example/#/${svc.job_id}`,
    'that is no text': 7 as never,
  };
  const table = (fields: typeof OTHER_FORMS, at: string, form: (field: Fields) => string) =>
    Object.entries(fields).flatMap(([field, values]) =>
      values.map((value, index) => [
        `${at}.${field} of another form, ${index + 1}`,
        form({ [field]: value }),
      ]),
    );
  return {
    ...Object.fromEntries([
      ...table(OTHER_FORMS, 'svc', says),
      ...table(OTHER_USAGE, 'usage', (usage) => plain({ usage })),
    ]),
    ...Object.fromEntries(
      Object.entries(links).map(([name, url]) => [`a link ${name}`, link(url)]),
    ),
  };
}

/** The bytes of a text that is all ASCII, as shells and editors write them. */
function bytesOf(text: string): Record<string, Uint8Array> {
  const little = Buffer.from(`\ufeff${text}`, 'utf16le');
  return {
    'bytes of UTF-8': utf8(text),
    'bytes of UTF-8 with its mark': utf8(`\ufeff${text}`),
    'bytes of UTF-16, the lower first': little,
    'bytes of UTF-16, the higher first': Buffer.from(little).swap16(),
    'refused: bytes of UTF-16 without its mark': little.subarray(2),
    'refused: bytes that are no UTF-8': Buffer.concat([
      utf8(text.slice(0, -1)),
      Buffer.from([0xff]),
    ]),
  };
}
