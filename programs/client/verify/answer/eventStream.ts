import { fieldOf, isObject } from './fields.ts';
import { isEventType, isOfResponses } from './responsesAnswer.ts';
import { SavedFileError } from './savedFile.ts';
import { assertFew, DONE, tryRead, type Values } from './text.ts';

const DATA = 'data:';
const NAME = 'event:';
/** Some clients take it for data or a name, and others do not. */
const NEARLY = /^[^\w:]*(?:data|event)[^\w:]*:/i;
/** The same behind what some take for a line end. */
const BEHIND = /[^\t -~\xa0-\u2027\u202a-\uffff][^\w:]*(?:data|event)[^\w:]*:/i;
/** A line that some take for JSON. */
const BARE = /^[^\w:]*[{[]/;

/**
 * The data of a stream's server-sent events, as the standard reads them: comments and other fields are
 * passed over, and with them trailers. So are events of a name, unless they say something of the answer:
 * the official clients read those, and others do not. Events of responses have their type as a name, all
 * of them or none. What stands behind the last empty line counts, too: files lose their last newline.
 *
 * @throws SavedFileError for an event that is not JSON, and for what one client may read and another not
 */
export function eventsIn(body: string): Values {
  const values: unknown[] = [];
  const others: string[] = [];
  let data: string[] = [];
  let name = '';
  let broken: number | undefined;
  let isDone = false;
  /** Whether events of responses have names. */
  let isTyped: boolean | undefined;
  const dispatch = () => {
    const lines = data;
    const event = name;
    data = [];
    name = '';
    if (lines.length === 0) return;
    const parsed = parseEvent(lines);
    const isOwn = isEventType(event) || (event === 'error' && isTyped === true);
    const isNamed = event !== '' && event !== 'message' && !isOwn;
    if (parsed?.some((value) => Array.isArray(value) || (isNamed && isPart(value))))
      throw differing();
    if (isOwn && parsed && (parsed.length > 1 || fieldOf(parsed[0], 'type') !== event))
      throw differing();
    if (parsed?.some(isOfResponses)) {
      if (isTyped === !isOwn) throw differing();
      isTyped = isOwn;
    }
    if (isNamed) {
      others.push(...lines);
      return;
    }
    if (broken !== undefined) throw new SavedFileError(`Event ${broken} is not JSON.`);
    if (parsed === undefined) broken = values.length + 1;
    for (const value of parsed ?? []) values.push(value);
    assertFew(values);
  };
  if (body.includes('\n') && /\r(?!\n|$)/.test(body)) throw differing();
  for (const line of linesOf(body)) {
    if (BEHIND.test(line)) throw differing();
    if (line.startsWith(DATA)) {
      const value = valueIn(line, DATA);
      const isEnd = value.trim() === DONE;
      if (isDone && !isEnd) throw new SavedFileError('It goes on behind its [DONE].');
      isDone ||= isEnd;
      data.push(value);
      assertFew(data);
    } else if (line.startsWith(NAME) || line === 'event') name = valueIn(line, NAME);
    else if (line === '') dispatch();
    else {
      if (NEARLY.test(line) || (BARE.test(line) && line.trim() !== DONE)) throw differing();
      others.push(line);
    }
  }
  dispatch();
  // Only the last one may be broken: the stream was cut within it.
  return { values, isCut: broken !== undefined, others };
}

const differing = () => new SavedFileError('Not all clients read each of its events.');

/** What clients look for in an event. */
const PARTS = ['choices', 'error', 'model', 'svc', 'usage'];

const isPart = (value: unknown): boolean =>
  isOfResponses(value) || (isObject(value) && PARTS.some((field) => Object.hasOwn(value, field)));

const valueIn = (line: string, field: string): string =>
  line.slice(line[field.length] === ' ' ? field.length + 1 : field.length);

/** One by one: a file may hold many million empty ones. */
function* linesOf(text: string): Generator<string> {
  const lineEnd = /\r\n|\n|\r/g;
  let start = 0;
  for (let end = lineEnd.exec(text); end; end = lineEnd.exec(text)) {
    yield text.slice(start, end.index);
    start = lineEnd.lastIndex;
  }
  yield text.slice(start);
}

/** The data of an event, in one line or several; of lines whose empty ones were lost, each is one. */
function parseEvent(lines: readonly string[]): unknown[] | undefined {
  const kept = lines.filter((line) => line.trim() !== DONE);
  const whole = tryRead(kept.join('\n'));
  if (whole) return [whole.value];
  const each = kept.map(tryRead);
  const parsed = each.filter((one) => one !== undefined);
  return parsed.length === each.length ? parsed.map(({ value }) => value) : undefined;
}
