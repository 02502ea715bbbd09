import { fieldOf, isObject, isOff } from './fields.ts';
import { RESPONSES_FIELDS } from './requestFields.ts';
import { refusalOf } from './savedFile.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Whether it is the body of `POST /v1/responses`, and of no chat completion. */
export function isResponsesRequest(body: unknown): body is Fields {
  return fieldOf(body, 'input') != null && isOff(fieldOf(body, 'messages'), []);
}

/**
 * The body of `POST /v1/responses` as that of the chat completion that its worker is given.
 * docs/receipt.md has it as a table.
 *
 * What is not named there stays as it was sent, so that one reading of values is enough: that of a
 * chat completion.
 *
 * @throws SavedFileError for what no chat completion says
 */
export function chatRequestOf(body: Fields): Record<string, unknown> {
  const refused = Object.entries(RESPONSES_FIELDS.off).find(
    ([field, off]) => !isOff(body[field], off),
  );
  if (refused) throw refusalOf(refused[0]);
  const { instructions, input, max_output_tokens, text, reasoning, tools, tool_choice } = body;
  const { translated, left_out, off } = RESPONSES_FIELDS;
  const own: readonly string[] = [...translated, ...left_out, ...Object.keys(off)];
  const others = Object.entries(body).filter(([field]) => !own.includes(field));
  return {
    ...Object.fromEntries(others),
    messages: messagesOf(instructions, input),
    max_tokens: max_output_tokens,
    response_format: beside('json_schema', fieldOf(text, 'format')),
    reasoning_effort: fieldOf(reasoning, 'effort'),
    tools: Array.isArray(tools) ? toolsOf(tools) : tools,
    tool_choice: beside('function', tool_choice),
  };
}

/** The types of the tools that no worker is given. */
export function leftOutTools(tools: unknown): string[] {
  if (!Array.isArray(tools)) return [];
  const types = tools.map((tool) => fieldOf(tool, 'type') as string);
  return [...new Set(types.filter(isLeftOut))];
}

const isLeftOut = (type: unknown): boolean =>
  RESPONSES_FIELDS.left_out_tools.some((each) => each === type);

const toolsOf = (tools: readonly unknown[]): unknown[] =>
  tools.filter((tool) => !isLeftOut(fieldOf(tool, 'type'))).map((tool) => beside('function', tool));

/** What stands beside the type, and in a chat completion in an object that is named like it. */
function beside(name: string, value: unknown): unknown {
  if (!isObject(value) || value.type !== name) return value;
  const { type, ...rest } = value;
  return { type, [name]: rest };
}

function messagesOf(instructions: unknown, input: unknown): unknown[] {
  const said = instructions ?? '';
  if (typeof said !== 'string') throw refusalOf('instructions');
  const messages: Record<string, unknown>[] = said === '' ? [] : [message('system', said)];
  if (typeof input === 'string') return [...messages, message('user', input)];
  if (!Array.isArray(input)) throw refusalOf('input');
  for (const item of input) addItem(messages, item);
  return messages;
}

const message = (role: unknown, content: unknown) => ({ role, content: partsOf(content) });

/** A call goes on with the message before it, where that is the assistant's. */
function addItem(messages: Record<string, unknown>[], item: unknown): void {
  const type = fieldOf(item, 'type') ?? 'message';
  const callId = fieldOf(item, 'call_id');
  if (type === 'message') messages.push(message(fieldOf(item, 'role'), fieldOf(item, 'content')));
  else if (type === 'function_call') {
    if (messages.at(-1)?.role !== 'assistant') messages.push(message('assistant', ''));
    const last = messages.at(-1) as { tool_calls?: unknown[] };
    const called = { name: fieldOf(item, 'name'), arguments: fieldOf(item, 'arguments') };
    last.tool_calls ??= [];
    last.tool_calls.push({ id: callId, type: 'function', function: called });
  } else if (type === 'function_call_output') {
    messages.push({ ...message('tool', fieldOf(item, 'output')), tool_call_id: callId });
  } else if (!isReasoning(type, fieldOf(item, 'id'))) throw refusalOf('input');
}

/** Reasoning itself, or a reference to it: some clients keep no more. Either way a model gets none. */
const isReasoning = (type: unknown, id: unknown): boolean =>
  type === 'reasoning' ||
  (type === 'item_reference' && typeof id === 'string' && id.startsWith(REASONING_ID));

/** How the ids of reasoning begin. */
export const REASONING_ID = 'rs_';

const TEXTS: readonly unknown[] = ['input_text', 'output_text'];

function partsOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((part) =>
    TEXTS.includes(fieldOf(part, 'type')) ? { type: 'text', text: fieldOf(part, 'text') } : part,
  );
}
