import type { ToolCall } from '../../../programs/client/statement.ts';

/** What a client shows of an answer. */
export interface Shown {
  readonly text: string;
  /** Joined by their index. */
  readonly calls: readonly ToolCall[];
  readonly models: readonly unknown[];
  readonly costs: readonly unknown[];
  readonly charges: readonly unknown[];
}

type Pairs = readonly (readonly [name: string, value: Value])[];
type Value = { readonly pairs: Pairs } | readonly Value[] | string | number | boolean | null;
/** How a reader finds a field of an object. */
type Find = (pairs: Pairs, name: string) => Value | undefined;

const first: Find = (pairs, name) => pairs.find(([held]) => held === name)?.[1];
const last: Find = (pairs, name) => pairs.findLast(([held]) => held === name)?.[1];
const fold = (name: string) =>
  name.replace(/[A-Z]/g, (one) => one.toLowerCase()).replaceAll('\u017f', 's');
/** As Go does. */
const anyCase: Find = (pairs, name) => pairs.findLast(([held]) => fold(held) === name)?.[1];

const TOKEN = /\s*([{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+)/y;

/** Keeps each field of an object. @throws SyntaxError where it is no JSON */
function parsePairs(json: string): Value {
  JSON.parse(json);
  TOKEN.lastIndex = 0;
  const next = () => TOKEN.exec(json)?.[1] ?? '';
  const value = (token: string): Value => {
    if (token !== '{' && token !== '[') return JSON.parse(token);
    const items: Value[] = [];
    const pairs: [string, Value][] = [];
    for (let one = next(); one !== '}' && one !== ']'; one = next()) {
      if (one === ',') continue;
      if (token === '[') items.push(value(one));
      else {
        next();
        pairs.push([JSON.parse(one), value(next())]);
      }
    }
    return token === '[' ? items : { pairs };
  };
  return value(next());
}

const LINE_ENDS = {
  standard: /\r\n|\n|\r/,
  bare: /\r?\n/,
  python: /\r\n|[^\t -~\xa0-\u2027\u202a-\uffff]/,
};

/** The texts of JSON in a file, by each kind of client; it throws where it cannot read it. */
const SOURCES: Readonly<Record<string, (file: string) => readonly string[]>> = {
  'one value': (file) => [bodyOf(file)],
  'lines of JSON': (file) =>
    bodyOf(file)
      .split('\n')
      .filter((line) => line.trim().startsWith('{')),
  'events of the standard': (file) => events(bodyOf(file), LINE_ENDS.standard, () => true),
  'events without a name': (file) =>
    events(bodyOf(file), LINE_ENDS.standard, (name) => name === '' || name === 'message'),
  'events by bare line ends': (file) => dataLines(bodyOf(file), LINE_ENDS.bare, (line) => line),
  'events by every line end': (file) =>
    dataLines(bodyOf(file), LINE_ENDS.python, (line) => line.trim().toLowerCase() && line.trim()),
  'events of the whole file': (file) => events(file, LINE_ENDS.standard, () => true),
  'trimmed events of the whole file': (file) =>
    dataLines(file, LINE_ENDS.python, (line) => line.replace(/^[\s"]*data"?\s*:/i, 'data:')),
};

const bodyOf = (file: string): string => file.replace(/^(HTTP\/.*\r?\n(?:.+\r?\n)*\r?\n)+/, '');

function events(body: string, ends: RegExp, isTaken: (name: string) => boolean): string[] {
  const found: string[] = [];
  let [data, name]: [string[], string] = [[], ''];
  for (const line of [...body.split(ends), '']) {
    if (line.startsWith('data:')) data.push(line.slice(5).trim());
    else if (line.startsWith('event:')) name = line.slice(6).trim();
    else if (line === '') {
      if (data.length > 0 && isTaken(name)) found.push(data.join('\n'));
      [data, name] = [[], ''];
    }
  }
  return untilDone(found);
}

const dataLines = (body: string, ends: RegExp, plain: (line: string) => string): string[] =>
  untilDone(
    body
      .split(ends)
      .map(plain)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5).trim()),
  );

function untilDone(values: readonly string[]): string[] {
  const end = values.indexOf('[DONE]');
  return values.slice(0, end === -1 ? values.length : end);
}

function show(values: readonly Value[], find: Find): Shown {
  const of = (value: Value | undefined, name: string) =>
    typeof value === 'object' && value && 'pairs' in value ? find(value.pairs, name) : undefined;
  const all = values.flat() as Value[];
  const said = (...path: string[]) =>
    all.map((value) => path.reduce<Value | undefined>(of, value)).filter((one) => one != null);
  const messages = all.map((value) => {
    const choice = (of(value, 'choices') as readonly Value[] | undefined)?.[0];
    return of(choice, 'message') ?? of(choice, 'delta');
  });
  const texts = messages.map((message) => of(message, 'content') ?? '');
  const calls: ToolCall[] = [];
  for (const message of messages) {
    const list = (of(message, 'tool_calls') ?? []) as readonly Value[];
    for (const [at, call] of list.entries()) {
      const index = Number(of(call, 'index') ?? at);
      const before = calls[index] ?? { id: '', name: '', arguments: '' };
      const more = (value: Value | undefined, name: string) => String(of(value, name) ?? '');
      calls[index] = {
        id: before.id + more(call, 'id'),
        name: before.name + more(of(call, 'function'), 'name'),
        arguments: before.arguments + more(of(call, 'function'), 'arguments'),
      };
    }
  }
  return {
    ...{ text: texts.join(''), calls, models: said('model') },
    ...{ costs: said('usage', 'cost'), charges: said('svc', 'credits_charged') },
  };
}

/** What clients show of a file, by their names; those that cannot read it, or find no answer, show nothing. */
export function shownBy(saved: string): Readonly<Record<string, Shown>> {
  const file = saved.replace(/^\ufeff/, '');
  const found: Record<string, Shown> = {};
  for (const [source, textsOf] of Object.entries(SOURCES)) {
    for (const [way, find] of Object.entries({ first, last, anyCase })) {
      try {
        const shown = show(textsOf(file).map(parsePairs), find);
        if (shown.text !== '') found[`${source}, ${way}`] = shown;
      } catch {
        // This client fails, and so it shows nothing else.
      }
    }
  }
  return found;
}
