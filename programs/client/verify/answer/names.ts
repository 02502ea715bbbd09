import { endOfString } from '../../parseJson.ts';
import { shown } from './fields.ts';
import { SavedFileError } from './savedFile.ts';
import { STATED } from './statedFields.ts';

/** What a reader of answers looks for. Some readers take a name in another case for it. */
export const READ: ReadonlySet<string> = new Set([
  ...['choices', 'message', 'delta', 'content', 'refusal', 'tool_calls', 'function_call', 'audio'],
  ...['finish_reason', 'index', 'id', 'model', 'error', 'svc', 'usage', ...STATED],
  ...['reasoning_content', 'reasoning', 'type', 'function', 'name', 'arguments'],
  ...['object', 'response', 'status', 'incomplete_details', 'reason', 'output', 'output_text'],
  ...['item', 'item_id', 'part', 'text', 'call_id', 'output_index', 'content_index', 'summary'],
  ...['encrypted_content', 'annotations', 'logprobs', 'input_tokens', 'output_tokens'],
]);
/** What an answer of responses repeats of its request, in which names are its client's. */
const REPEATED: ReadonlySet<string> = new Set(['tools', 'format', 'metadata']);
const TOKENS = /["{}]/g;
const NAME_END = /[ \t\r\n]*:/y;

/**
 * Of two equal names in an object some readers take the first, and others the last.
 *
 * @param json is JSON
 * @throws SavedFileError for such names, and for one that is read only in another case
 */
export function assertNames(json: string): void {
  const objects: Open[] = [];
  TOKENS.lastIndex = 0;
  for (let token = TOKENS.exec(json); token; token = TOKENS.exec(json)) {
    const object = objects.at(-1);
    if (token[0] === '{') {
      const isRepeated = object && (object.isRepeated || REPEATED.has(object.last));
      objects.push({ names: new Set(), last: '', isRepeated: isRepeated === true });
    } else if (token[0] === '}') objects.pop();
    else {
      const end = endOfString(json, token.index) ?? json.length;
      TOKENS.lastIndex = end;
      NAME_END.lastIndex = end;
      if (object && NAME_END.test(json)) addName(JSON.parse(json.slice(token.index, end)), object);
    }
  }
}

/** An object that is not closed yet. */
interface Open {
  readonly names: Set<string>;
  /** Of which the value follows. */
  last: string;
  readonly isRepeated: boolean;
}

function addName(name: string, object: Open): void {
  // As Go compares names: these two letters are those of ASCII in another case.
  const folded = name
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll('ſ', 's')
    .replaceAll('\u212a', 'k');
  const isTaken = folded !== name && READ.has(folded) && !object.isRepeated;
  if (object.names.has(name) || isTaken) {
    throw new SavedFileError(`Not all clients read its fields named ${shown(name)} alike.`);
  }
  object.names.add(name);
  object.last = name;
}
