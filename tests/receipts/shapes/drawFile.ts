import { toolCallsAsJson } from '../../../programs/client/statement.ts';
import type { Random } from '../../../testing/random.ts';
import { eventsOf, type Response, responseOf } from '../responsesForms.ts';

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
  const isOfResponses = random.below(2) === 0;
  const named = random.below(4);
  // A stream of responses has many more events.
  const rare = isOfResponses ? 60 : 6;
  const parts = isOfResponses ? responses(random, isPlain) : isPlain ? [plain()] : chunks();
  for (let lies = random.below(3); lies > 0; lies -= 1) {
    const lie = pick(isOfResponses ? RESPONSES_LIES : LYING_PARTS);
    parts.splice(
      random.below(parts.length + 1),
      0,
      JSON.stringify(random.below(9) === 0 ? pick(LIES) : lie),
    );
  }
  const spoils = isOfResponses ? [...SPOILS, ...RESPONSES_SPOILS] : SPOILS;
  const spoilt = parts.map(
    (part) => some(() => pick(spoils)(part), isOfResponses ? 30 : 9) || part,
  );
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
        some(() => `${line()}${lineEnd}`, rare) + some(() => `: c${lineEnd}${lineEnd}`, rare);
      return `${before}${nameOf(part, lineEnd)}${pick(['data: ', 'data:'])}${part}${lineEnd}${lineEnd}`;
    });
    return `${events.join('')}${some(() => `data: [DONE]${lineEnd}${lineEnd}`)}`;
  }

  /** Streams of responses have names for all events or for none, but for lies and a few others. */
  function nameOf(part: string, lineEnd: string): string {
    const [, type] = /"type":"([\w.]+)"/.exec(part) ?? [];
    if (!isOfResponses || type === undefined) return '';
    const isOther = random.below(part.includes('No.') ? 3 : 300) === 0;
    const other = pick(['response.output_text.delta', 'x', 'error', '']);
    const name = isOther ? other : named > 0 ? type : '';
    return name && `event: ${name}${lineEnd}`;
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
    const value = pick(['y', OTHER_JOB, ...LIES.map((one) => JSON.stringify(one))]);
    const joint = pick([': ', ':', ':', ' ', '']);
    return `${some(() => pick(['a\u2028', 'a: b\r', 'a\u0085', 'a\f', '{']), 6)}${name}${joint}${value}`;
  }
}

/** The answer or the events of responses, with its text in one item or two. */
function responses(random: Random, isPlain: boolean): string[] {
  const details = { finishReason: 'tool_calls', reasoning: '', toolCalls: TRUTH.calls };
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  const { text, model, cost } = TRUTH;
  const whole = responseOf({ ...{ jobId: JOB, model, text, details, usage, cost }, ...SVC });
  const response = random.below(2) === 0 ? whole : inTwo(random, whole);
  if (isPlain) return [JSON.stringify(response)];
  const events = eventsOf(response, (piece) => piece.match(/.{1,4}/gs) ?? []);
  return besideEachOther(random, events).map((event) => JSON.stringify(event));
}

/** The second text is beside the first one, or behind a call. */
function inTwo(random: Random, response: Response): Response {
  const [message, ...calls] = response.output;
  const [first, second] = [TRUTH.text.slice(0, 5), TRUTH.text.slice(5)].map((text) => ({
    ...message,
    content: [{ type: 'output_text', text }],
  }));
  const output = calls.toSpliced(random.below(2), 0, second as (typeof calls)[number]);
  const items = [first, ...output].map((item, at) => ({ ...item, id: `i_${at}` }));
  return { ...response, output: items as Response['output'] };
}

/** The second call begins within the first one, or both end last. */
function besideEachOther<Event extends { readonly type: string; readonly output_index?: unknown }>(
  random: Random,
  events: readonly Event[],
): Event[] {
  if (random.below(2) === 0) return [...events];
  const added = events.filter(
    (event) => 'item' in event && (event.item as { type: string }).type === 'function_call',
  );
  const calls = new Set(added.map(({ output_index }) => output_index));
  const isEnd = (event: Event) => calls.has(event.output_index) && event.type.endsWith('.done');
  const begun = events.slice(0, -1).filter((event) => !isEnd(event));
  const second = begun.findLastIndex((event) => added.includes(event));
  const before = begun.findLastIndex(
    ({ type }) => type === 'response.function_call_arguments.delta',
  );
  const [call] = random.below(2) === 0 && before === second - 1 ? begun.splice(second, 1) : [];
  if (call) begun.splice(before, 0, call);
  return [...begun, ...events.filter(isEnd), ...events.slice(-1)];
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

const LYING_ITEM = {
  ...{ type: 'message', id: 'i_0', role: 'assistant' },
  content: [{ type: 'output_text', text: 'No.' }],
};
const FIRST = { item_id: 'i_0', output_index: 0, content_index: 0 };
const LYING_WHOLE = { id: `resp_${JOB}`, status: 'completed', output: [LYING_ITEM] };
/** The same of responses; some say nothing. */
const RESPONSES_LIES: readonly object[] = [
  { type: 'response.output_text.delta', ...FIRST, delta: 'No.' },
  { type: 'response.output_text.delta', ...FIRST, delta: '' },
  { type: 'response.output_text.done', ...FIRST, text: 'No.' },
  { type: 'response.output_item.done', output_index: 0, item: LYING_ITEM },
  { type: 'response.output_item.added', output_index: 3, item: { ...LYING_ITEM, content: [] } },
  { type: 'response.function_call_arguments.delta', item_id: 'i_1', output_index: 1, delta: '!' },
  { type: 'response.refusal.delta', ...FIRST, delta: 'No.' },
  { type: 'response.completed', response: LYING_WHOLE },
  { type: 'response.created', response: { model: 'b' } },
  { type: 'response.in_progress', response: { svc: { credits_charged: 99 } } },
  { object: 'response', ...LYING_WHOLE },
  { type: 'error', error: { message: 'x' } },
  { type: 'error', error: { message: 'x' }, svc: { job_id: JOB } },
  { type: 'error' },
];
const LIES = [...LYING_PARTS, ...RESPONSES_LIES];

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

/** The same to one of responses. */
const RESPONSES_SPOILS: typeof SPOILS = [
  (part) => part.replace('"text":', '"text":"No.","text":'),
  (part) => part.replace('"text":', '"Text":"No.","text":'),
  (part) => part.replace('"output":', '"output":[],"output":'),
  (part) => part.replace('"output":', '"output_text":"No.","output":'),
  (part) => part.replace('"output":', `"output_text":${JSON.stringify(TRUTH.text)},"output":`),
  (part) => part.replace('"item_id":"i_0"', '"item_id":"i_1"'),
  (part) => part.replace('"output_index":1', '"output_index":0'),
  (part) => part.replace('"output_index":0', '"output_index":"0"'),
  (part) => part.replace('"status":"completed"', '"status":"incomplete"'),
  (part) => part.replace('"type":"response.', '"Type":"x","type":"response.'),
  (part) => part.replace('"Name"', '"Text"'),
  (part) => part.replace('"content":[', '"content":[{"type":"refusal","refusal":"No."},'),
  (part) => part.replace('"type":"message"', '"type":"program"'),
  (part) => part.replace('"error":null', '"error":{"message":"x"}'),
];
