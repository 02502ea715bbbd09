import { toolCallsAsJson } from '../../../programs/client/statement.ts';
import type { Random } from '../../../testing/random.ts';

const JOB = 'job_01a1fd5d5d467000a1b2d1b31219e46b';
const OTHER_JOB = JOB.replace(/b$/, 'c');
/** What was proven and charged. */
export const TRUTH = {
  ...{ text: 'Yes, I do.\n', model: 'a', cost: 0.01, credits_charged: 1 },
  calls: [
    { id: 'call_1', name: 'find', arguments: '{"a":1}' },
    { id: 'call_2', name: 'read', arguments: '' },
  ],
};
const MODEL = { model: TRUTH.model };
const USAGE = { usage: { cost: TRUTH.cost, prompt_tokens: 3, completion_tokens: 2 } };
const SVC = { svc: { job_id: JOB, attempt: 1, credits_charged: TRUTH.credits_charged } };

/** A saved answer in one of its forms, with what programs add, and lies in some places. */
export function drawFile(random: Random): string {
  const pick = <Item>(items: readonly Item[]): Item => items[random.below(items.length)] as Item;
  const some = (text: () => string, one = 3) => (random.below(one) === 0 ? text() : '');
  const isPlain = random.below(3) === 0;
  const parts = isPlain ? [plain()] : chunks();
  for (let lies = random.below(3); lies > 0; lies -= 1) {
    parts.splice(random.below(parts.length + 1), 0, JSON.stringify(pick(LYING_PARTS)));
  }
  const spoilt = parts.map((part) => some(() => pick(SPOILS)(part), 9) || part);
  const end = pick(['\n', '\n', '\r\n', '\r']);
  const head = () => `HTTP/1.1 200 OK\r\n${some(() => `${line()}\r\n`)}x: y\r\n\r\n`;
  const body = random.below(2) === 0 ? asJson(spoilt) : asEvents(spoilt, end);
  return `${some(() => '\ufeff')}${some(head)}${body}${some(() => `${end}x: y${end}${line()}${end}`)}`;

  function plain(): string {
    const tool_calls = toolCallsAsJson(TRUTH.calls);
    const message = { role: 'assistant', content: TRUTH.text, tool_calls };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return JSON.stringify({ id: `chatcmpl-${JOB}`, ...MODEL, choices, ...USAGE, ...SVC });
  }

  function chunks(): string[] {
    const texts = (TRUTH.text.match(/.{1,4}/gs) ?? []).map((content) => ({ content }));
    const pieces = [...texts, ...callDeltas(random), { content: '' }];
    const said = pieces.map((delta, at) => {
      const isLast = at === pieces.length - 1;
      const choice = { index: 0, delta, finish_reason: isLast ? 'stop' : null };
      const early = random.below(3) === 0 ? { usage: null, svc: { attempt: 1 } } : {};
      return { id: `chatcmpl-${JOB}`, ...MODEL, choices: [choice], ...early, ...(isLast && SVC) };
    });
    const usage = random.below(2) === 0 ? [{ ...MODEL, choices: [], ...USAGE }] : [];
    return [...said, ...usage].map((one) => JSON.stringify(one));
  }

  function asJson(all: readonly string[]): string {
    const items = some(() => `[${all.join(',')}]`) || all.join(pick(['\n', '', ' \r\n']));
    return `${items}${some(() => '\n[DONE]')}`;
  }

  function asEvents(all: readonly string[], lineEnd: string): string {
    const events = all.map((part) => {
      const before =
        some(() => `${line()}${lineEnd}`, 6) + some(() => `: c${lineEnd}${lineEnd}`, 6);
      return `${before}${pick(['data: ', 'data:'])}${part}${lineEnd}${lineEnd}`;
    });
    return `${events.join('')}${some(() => `data: [DONE]${lineEnd}${lineEnd}`)}`;
  }

  /** A line outside of the answer: innocent, or of another one. */
  function line(): string {
    const name = pick([
      'x',
      'id',
      'event',
      'data',
      'Data',
      ' data',
      'retry',
      'EVENT',
      '"data"',
      '',
    ]);
    const value = pick(['y', OTHER_JOB, ...LYING_PARTS.map((one) => JSON.stringify(one))]);
    const joint = pick([': ', ':', ':', ' ', '']);
    return `${some(() => pick(['a\u2028', 'a: b\r', 'a\u0085', 'a\f', '{']), 6)}${name}${joint}${value}`;
  }
}

/** Each call begins before the next, and an earlier one may go on behind that. */
function callDeltas(random: Random): object[] {
  const delta = (call: object) => ({ tool_calls: [call] });
  const [first, second] = toolCallsAsJson(TRUTH.calls).map((call, index) => ({ index, ...call }));
  if (!first || !second) return [];
  const { arguments: written } = first.function;
  const cut = random.below(written.length);
  const begun = { ...first, function: { ...first.function, arguments: written.slice(0, cut) } };
  const rest = { index: 0, function: { arguments: written.slice(cut) } };
  const behind = [delta(second), delta(rest)];
  return [delta(begun), ...(random.below(2) === 0 ? behind : behind.toReversed())];
}

const LYING_PARTS: readonly object[] = [
  { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '!' } }] } }] },
  { choices: [{ delta: { tool_calls: [{ index: 0, id: 'x', function: { name: 'y' } }] } }] },
  { choices: [{ delta: { tool_calls: [{ index: 2, id: 'x', function: { name: 'y' } }] } }] },
  { choices: [{ message: { tool_calls: toolCallsAsJson(TRUTH.calls) }, finish_reason: 'stop' }] },
  { id: JOB, choices: [{ delta: { content: 'No.' }, finish_reason: 'stop' }] },
  { id: OTHER_JOB, choices: [{ index: 0, delta: { content: 'No.' }, finish_reason: 'stop' }] },
  { choices: [{ message: { content: 'No.' }, finish_reason: 'stop' }] },
  { choices: [], usage: { cost: 99 } },
  { usage: { cost: 99, prompt_tokens: null } },
  { svc: { job_id: JOB, credits_charged: 99 } },
  { model: 'b' },
  { model: null, usage: {}, svc: { other: 1 } },
  { choices: [{ delta: { content: null, reasoning_content: 'x' } }] },
  { error: 'x' },
  [[{ id: OTHER_JOB }]],
];

/** What may be done to a part's JSON. */
const SPOILS: readonly ((part: string) => string)[] = [
  (part) => part.replace('"content"', '"content":"No.","content"'),
  (part) => part.replace(/"content":("[^"]*")/, '"content":$1,"c\\u006fntent":"No."'),
  (part) => part.replace('"content"', '"CONTENT":"No.","content"'),
  (part) => part.replace('"delta"', '"Delta":{"content":"No."},"delta"'),
  (part) => part.replace('"model"', '"MODEL":"b","model"'),
  (part) => part.replace('"choices"', '"choice\u017f":[],"choices"'),
  (part) => part.replace('"cost":0.01', '"cost":99,"cost":0.01'),
  (part) => part.replace('"arguments"', '"arguments":"!","arguments"'),
  (part) => part.replace('"name"', '"Name":"x","name"'),
  (part) => part.replace('"tool_calls"', '"tool_calls":[],"tool_calls"'),
  (part) => part.replace('"index":1', '"index":0'),
  (part) => part.replace(',', ',\n'),
  (part) => part.slice(0, part.length >> 1),
  (part) => part.replace('Yes', 'No'),
];
