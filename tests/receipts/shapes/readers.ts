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
  'events by their names': (file) =>
    events(bodyOf(file), LINE_ENDS.standard, (name) => name.startsWith('response.'), typed),
  'events by bare line ends': (file) => dataLines(bodyOf(file), LINE_ENDS.bare, (line) => line),
  'events by every line end': (file) =>
    dataLines(bodyOf(file), LINE_ENDS.python, (line) => line.trim().toLowerCase() && line.trim()),
  'events of the whole file': (file) => events(file, LINE_ENDS.standard, () => true),
  'trimmed events of the whole file': (file) =>
    dataLines(file, LINE_ENDS.python, (line) => line.replace(/^[\s"]*data"?\s*:/i, 'data:')),
};

const bodyOf = (file: string): string => file.replace(/^(HTTP\/.*\r?\n(?:.+\r?\n)*\r?\n)+/, '');

/** For a client that knows an event by its name alone. */
const typed = (data: string, name: string): string => data.replace('{', `{"type":"${name}",`);

function events(
  body: string,
  ends: RegExp,
  isTaken: (name: string) => boolean,
  read: (data: string, name: string) => string = (data) => data,
): string[] {
  const found: string[] = [];
  let [data, name]: [string[], string] = [[], ''];
  for (const line of [...body.split(ends), '']) {
    if (line.startsWith('data:')) data.push(line.slice(5).trim());
    else if (line.startsWith('event:')) name = line.slice(6).trim();
    else if (line === '') {
      if (data.length > 0 && isTaken(name)) found.push(read(data.join('\n'), name));
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

type Of = (value: Value | undefined, name: string) => Value | undefined;
type Message = Pick<Shown, 'text' | 'calls'>;

const listOf = (value: Value | undefined): readonly Value[] =>
  Array.isArray(value) ? (value as readonly Value[]) : [];

/** What each kind of client makes of an answer's values. */
const VIEWS: Readonly<Record<string, (all: readonly Value[], of: Of) => Message>> = {
  'a chat completion': chatIn,
  'the output of a response': (all, of) => itemsIn(listOf(of(wholeIn(all, of), 'output')), of),
  'the output_text of a response': (all, of) => ({
    ...itemsIn(listOf(of(wholeIn(all, of), 'output')), of),
    text: String(of(wholeIn(all, of), 'output_text') ?? ''),
  }),
  'items of a response': (all, of) =>
    itemsIn(
      all
        .filter((value) => of(value, 'type') === 'response.output_item.done')
        .map((value) => of(value, 'item') ?? null),
      of,
    ),
  'pieces of a response': (all, of) => textsIn(all, of, 'delta', ['delta', 'delta']),
  'texts of a response': (all, of) => textsIn(all, of, 'done', ['text', 'arguments']),
};

function wholeIn(all: readonly Value[], of: Of): Value | undefined {
  const ends: unknown[] = ['response.completed', 'response.incomplete'];
  const end = all.find((value) => ends.includes(of(value, 'type')));
  return end ? of(end, 'response') : all.find((value) => of(value, 'object') === 'response');
}

function itemsIn(items: readonly Value[], of: Of): Message {
  const parts = items.flatMap((item) =>
    of(item, 'type') === 'message' ? listOf(of(item, 'content')) : [],
  );
  const calls = items.filter((item) => of(item, 'type') === 'function_call');
  return {
    text: parts.map((part) => of(part, 'text') ?? '').join(''),
    calls: calls.map((call) => callOf(call, of, of(call, 'arguments'))),
  };
}

const callOf = (item: Value | undefined, of: Of, written: Value | undefined): ToolCall => ({
  id: String(of(item, 'call_id') ?? ''),
  name: String(of(item, 'name') ?? ''),
  arguments: String(written ?? ''),
});

/** Of events by the end of their types, whose items were added before. */
function textsIn(
  all: readonly Value[],
  of: Of,
  end: string,
  [text, written]: readonly [text: string, written: string],
): Message {
  const ofType = (type: string) => all.filter((value) => of(value, 'type') === `response.${type}`);
  const added = ofType('output_item.added').filter(
    (value) => of(of(value, 'item'), 'type') === 'function_call',
  );
  const pieces = ofType(`function_call_arguments.${end}`);
  return {
    text: ofType(`output_text.${end}`)
      .map((value) => of(value, text) ?? '')
      .join(''),
    calls: added.map((value) => {
      const at = of(value, 'output_index');
      const own = pieces.filter((piece) => of(piece, 'output_index') === at);
      return callOf(of(value, 'item'), of, own.map((piece) => of(piece, written) ?? '').join(''));
    }),
  };
}

function chatIn(all: readonly Value[], of: Of): Message {
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
  return { text: texts.join(''), calls };
}

function show(values: readonly Value[], find: Find, view: (typeof VIEWS)[string]): Shown {
  const of: Of = (value, name) =>
    typeof value === 'object' && value && 'pairs' in value ? find(value.pairs, name) : undefined;
  const all = values.flat() as Value[];
  const parts = all.flatMap((value) => [value, of(value, 'response') ?? null]);
  const said = (...path: string[]) =>
    parts.map((value) => path.reduce<Value | undefined>(of, value)).filter((one) => one != null);
  return {
    ...{ ...view(all, of), models: said('model') },
    ...{ costs: said('usage', 'cost'), charges: said('svc', 'credits_charged') },
  };
}

/** What clients show of a file, by their names; those that cannot read it, or find no answer, show nothing. */
export function shownBy(saved: string): Readonly<Record<string, Shown>> {
  const file = saved.replace(/^\ufeff/, '');
  const found: Record<string, Shown> = {};
  for (const [source, textsOf] of Object.entries(SOURCES)) {
    for (const [way, find] of Object.entries({ first, last, anyCase })) {
      for (const [name, view] of Object.entries(VIEWS)) {
        try {
          const shown = show(textsOf(file).map(parsePairs), find, view);
          if (shown.text !== '') found[`${source}, ${way}, ${name}`] = shown;
        } catch {
          // This client fails, and so it shows nothing else.
        }
      }
    }
  }
  return found;
}
