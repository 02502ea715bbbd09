import type { ToolCall } from '../../statement.ts';
import { fieldOf, isObject } from './fields.ts';
import { SavedFileError } from './savedFile.ts';

/**
 * The calls of tools of an answer, in the order of their index.
 *
 * @param lists `tool_calls` of each part, in order
 * @param isStream whether a call may go on in later parts. Its first one has id and name, and others
 *   more of its arguments
 * @throws SavedFileError for calls that one client may read otherwise than another
 */
export function toolCallsIn(lists: readonly unknown[], isStream: boolean): ToolCall[] {
  const calls: ToolCall[] = [];
  for (const list of lists) {
    if (list == null) continue;
    if (!Array.isArray(list)) throw unreadable();
    for (const [at, said] of list.entries()) {
      const index = fieldOf(said, 'index') ?? (isStream ? undefined : at);
      if (typeof index !== 'number') throw unreadable();
      const before = calls[index];
      if (index === calls.length) calls.push(begun(said));
      else if (before === undefined || !isStream) throw unreadable();
      else calls[index] = continued(before, said);
    }
  }
  return calls;
}

function begun(said: unknown): ToolCall {
  const called = fieldOf(said, 'function');
  const [id, name] = [fieldOf(said, 'id'), fieldOf(called, 'name')];
  const isFunction = (fieldOf(said, 'type') ?? 'function') === 'function';
  if (!isText(id) || !isText(name) || !isFunction) throw unreadable();
  return { id, name, arguments: argumentsIn(called) };
}

function continued(before: ToolCall, said: unknown): ToolCall {
  const called = fieldOf(said, 'function');
  const named = [fieldOf(said, 'id'), fieldOf(called, 'name')];
  if (!isObject(said) || named.some((text) => text != null && text !== '')) throw unreadable();
  return { ...before, arguments: before.arguments + argumentsIn(called) };
}

function argumentsIn(called: unknown): string {
  const written = fieldOf(called, 'arguments') ?? '';
  if (typeof written !== 'string') throw unreadable();
  return written;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const unreadable = () => new SavedFileError('Not all clients read its tool_calls alike.');
