import type { Random } from '../../../testing/random.ts';

const JOB = 'job_01a1fd5d5d467000a1b2d1b31219e46b';
const OTHER_JOB = JOB.replace(/b$/, 'c');
/** What was proven and charged. */
export const TRUTH = { text: 'Yes, I do.\n', model: 'a', cost: 0.01, credits_charged: 1 };
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
    const message = { role: 'assistant', content: TRUTH.text };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return JSON.stringify({ id: `chatcmpl-${JOB}`, ...MODEL, choices, ...USAGE, ...SVC });
  }

  function chunks(): string[] {
    const pieces = [...(TRUTH.text.match(/.{1,4}/gs) ?? []), ''];
    const said = pieces.map((content, at) => {
      const isLast = at === pieces.length - 1;
      const choice = { index: 0, delta: { content }, finish_reason: isLast ? 'stop' : null };
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

const LYING_PARTS: readonly object[] = [
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
  (part) => part.replace(',', ',\n'),
  (part) => part.slice(0, part.length >> 1),
  (part) => part.replace('Yes', 'No'),
];
