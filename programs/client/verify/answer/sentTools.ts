import type { Json } from '../../proof.ts';
import { type ToolCall, toolCallsAsJson } from '../../statement.ts';
import { fieldOf, onlyGiven, unlessEmpty, withoutPrototype } from './fields.ts';
import { refusalOf } from './savedFile.ts';

/** Choices that mean nothing where there are no tools. */
const IDLE_CHOICES: readonly unknown[] = [undefined, 'none', 'auto'];

/**
 * What a worker is given of the tools that a request offers: nothing where it offers none.
 *
 * @throws SavedFileError for tools that are no list, and for a choice that needs some
 */
export function toolFieldsOf(body: Readonly<Record<string, unknown>>): Record<string, Json> {
  const { tools: sent = null, tool_choice, parallel_tool_calls } = body;
  const tools = unlessEmpty(sent);
  const choice = unlessEmpty(withoutPrototype(tool_choice, 'function'));
  if (tools === undefined) {
    if (IDLE_CHOICES.includes(choice)) return {};
    throw refusalOf('tool_choice');
  }
  if (!Array.isArray(tools)) throw refusalOf('tools');
  return onlyGiven({
    tools: tools.map((tool) => withoutPrototype(tool, 'function', 'parameters')),
    tool_choice: choice,
    parallel_tool_calls: unlessEmpty(withoutPrototype(parallel_tool_calls)),
  });
}

/** The calls of an assistant's message, or whose result a tool's is. @throws SavedFileError */
export function callFieldsOf(message: unknown, role: string) {
  const calls = unlessEmpty(fieldOf(message, 'tool_calls'));
  const id = fieldOf(message, 'tool_call_id');
  if (role === 'tool' && typeof id !== 'string') throw refusalOf('tool_call_id');
  if (calls !== undefined && (role !== 'assistant' || !Array.isArray(calls))) throw unreadable();
  return {
    ...(Array.isArray(calls) && { tool_calls: toolCallsAsJson(calls.map(callOf)) }),
    ...(role === 'tool' && { tool_call_id: id as string }),
  };
}

function callOf(sent: unknown): ToolCall {
  const called = fieldOf(sent, 'function');
  const [id, name] = [fieldOf(sent, 'id'), fieldOf(called, 'name')];
  const written = fieldOf(called, 'arguments');
  if (fieldOf(sent, 'type') !== 'function') throw unreadable();
  if (typeof id !== 'string' || typeof name !== 'string' || typeof written !== 'string') {
    throw unreadable();
  }
  return { id, name, arguments: written };
}

const unreadable = () => refusalOf('tool_calls');
