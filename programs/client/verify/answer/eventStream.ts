import { isObject } from './answerParts.ts';
import { SavedFileError } from './savedFile.ts';
import { assertFew, DONE, tryParse, type Values } from './text.ts';

const DATA = 'data:';
const NAME = 'event:';
/** Some clients take it for data, and others do not. */
const NEARLY_DATA = /^[^\w:]*data[^\w:]*:/i;

/**
 * The data of a stream's server-sent events, as the standard reads them: comments and other fields are
 * passed over, and with them trailers. So are events of a name, unless they have a part of the answer:
 * the official clients read those, and others do not. What stands behind the last empty line counts,
 * too: files lose their last newline.
 *
 * @throws SavedFileError for an event that is not JSON, and for what one client may read and another not
 */
export function eventsIn(body: string): Values {
  const values: unknown[] = [];
  let data: string[] = [];
  let name = '';
  let broken: number | undefined;
  let isDone = false;
  const dispatch = () => {
    const lines = data;
    const isNamed = name !== '' && name !== 'message';
    data = [];
    name = '';
    if (lines.length === 0) return;
    const parsed = parseEvent(lines);
    if (parsed?.some((value) => Array.isArray(value) || (isNamed && isPart(value)))) {
      throw new SavedFileError('Not all clients read each of its events.');
    }
    if (isNamed) return;
    if (broken !== undefined) throw new SavedFileError(`Event ${broken} is not JSON.`);
    if (parsed === undefined) broken = values.length + 1;
    for (const value of parsed ?? []) values.push(value);
    assertFew(values);
  };
  for (const line of linesOf(body)) {
    if (line.startsWith(DATA)) {
      const value = valueIn(line, DATA);
      const isEnd = value.trim() === DONE;
      if (isDone && !isEnd) throw new SavedFileError('It goes on behind its [DONE].');
      isDone ||= isEnd;
      data.push(value);
      assertFew(data);
    } else if (NEARLY_DATA.test(line)) {
      throw new SavedFileError('Not all clients read each of its events.');
    } else if (line.startsWith(NAME) || line === 'event') name = valueIn(line, NAME);
    else if (line === '') dispatch();
  }
  dispatch();
  // Only the last one may be broken: the stream was cut within it.
  return { values, isCut: broken !== undefined };
}

const isPart = (value: unknown): boolean =>
  isObject(value) && ('choices' in value || isObject(value.error));

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
  const whole = tryParse(kept.join('\n'));
  if (whole) return [whole.value];
  const each = kept.map(tryParse);
  const parsed = each.filter((one) => one !== undefined);
  return parsed.length === each.length ? parsed.map(({ value }) => value) : undefined;
}
