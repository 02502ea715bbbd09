import { endOfString } from '../../parseJson.ts';
import { shown } from './fields.ts';
import { SavedFileError } from './savedFile.ts';
import { STATED } from './statedFields.ts';

/** What a reader of answers looks for. Some readers take a name in another case for it. */
export const READ: ReadonlySet<string> = new Set([
  ...['choices', 'message', 'delta', 'content', 'refusal', 'tool_calls', 'function_call', 'audio'],
  ...['finish_reason', 'index', 'id', 'model', 'error', 'svc', 'usage', ...STATED],
  ...['reasoning_content', 'reasoning', 'type', 'function', 'name', 'arguments'],
]);
const TOKENS = /["{}]/g;
const NAME_END = /[ \t\r\n]*:/y;

/**
 * Of two equal names in an object some readers take the first, and others the last.
 *
 * @param json is JSON
 * @throws SavedFileError for such names, and for one that is read only in another case
 */
export function assertNames(json: string): void {
  const objects: Set<string>[] = [];
  TOKENS.lastIndex = 0;
  for (let token = TOKENS.exec(json); token; token = TOKENS.exec(json)) {
    if (token[0] === '{') objects.push(new Set());
    else if (token[0] === '}') objects.pop();
    else {
      const end = endOfString(json, token.index) ?? json.length;
      TOKENS.lastIndex = end;
      NAME_END.lastIndex = end;
      if (NAME_END.test(json)) assertName(JSON.parse(json.slice(token.index, end)), objects.at(-1));
    }
  }
}

function assertName(name: string, others = new Set<string>()): void {
  // As Go compares names: these two letters are those of ASCII in another case.
  const folded = name
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll('ſ', 's')
    .replaceAll('\u212a', 'k');
  if (others.has(name) || (folded !== name && READ.has(folded))) {
    throw new SavedFileError(`Not all clients read its fields named ${shown(name)} alike.`);
  }
  others.add(name);
}
