import type { Json } from '../../programs/client/proof.ts';
import type { Random } from '../../testing/random.ts';

type Body = Readonly<Record<string, Json>>;

const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[random.below(items.length)] as Item;

/** What known clients always offer. */
const LEFT_OUT_TOOL = { type: 'web_search', filters: null };

/** The body of responses that asks for the same, in any of its forms. */
export function asResponses(random: Random, sent: Body): Body {
  const { messages, max_tokens, response_format, reasoning_effort, ...others } = sent;
  const { tools, tool_choice, ...shared } = others;
  const [first, ...rest] = messages as unknown as Message[];
  const isInstructed =
    first?.role === 'system' && typeof first.content === 'string' && first.content !== '';
  const items = (isInstructed ? rest : (messages as unknown as Message[])).flatMap(
    (message, at, all) => itemsOf(random, message, all[at - 1]?.role === 'assistant'),
  );
  const [item] = items as { role?: unknown; content?: unknown }[];
  const isText = items.length === 1 && item?.role === 'user' && typeof item.content === 'string';
  const more = pick(random, [[], [LEFT_OUT_TOOL], [{ type: 'namespace', tools: [] }]]);
  const body = {
    ...shared,
    input: isText && random.below(2) === 0 ? item?.content : items,
    ...(isInstructed
      ? { instructions: first.content }
      : pick(random, [{}, { instructions: null }])),
    ...(max_tokens !== undefined && { max_output_tokens: max_tokens }),
    ...(response_format !== undefined && {
      text: { format: flat('json_schema', response_format) },
    }),
    ...(reasoning_effort !== undefined && {
      reasoning: { effort: reasoning_effort, summary: 'auto' },
    }),
    ...(tools !== undefined && {
      tools: Array.isArray(tools)
        ? [...tools.map((tool) => flat('function', tool)), ...more]
        : tools,
    }),
    ...(tool_choice !== undefined && { tool_choice: flat('function', tool_choice) }),
    ...pick(random, [{}, { background: false, truncation: 'disabled', messages: [] }]),
    ...pick(random, [
      {},
      { previous_response_id: null, max_completion_tokens: {}, include: ['x'] },
    ]),
  };
  return body as unknown as Body;
}

interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly refusal?: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
}

/** @param isJoined whether a call would go on with the message before */
function itemsOf(random: Random, message: Message, isJoined: boolean): object[] {
  const { role, refusal, tool_call_id, tool_calls = [] } = message;
  const refused = refusal ? [{ type: 'refusal', refusal }] : '';
  const said = message.content ?? refused;
  const content = Array.isArray(said)
    ? said.map((part) => (part.type === 'text' ? { ...part, type: inputType(role) } : part))
    : said;
  if (role === 'tool')
    return [{ type: 'function_call_output', call_id: tool_call_id, output: content }];
  const calls = tool_calls.map(({ id, function: { name, arguments: written } }) => ({
    ...{ type: 'function_call', id: 'fc_1', call_id: id, name, arguments: written },
  }));
  const isSilent = String(content) === '' && calls.length > 0 && !isJoined;
  const form = pick(random, [{}, { type: 'message' }, { type: null, status: 'completed' }]);
  const thought = pick(random, [
    [],
    [{ type: 'reasoning', summary: [] }],
    [{ type: 'item_reference', id: 'rs_1' }],
  ]);
  return [
    ...(isSilent && random.below(2) === 0 ? [] : [{ ...form, role, content }]),
    ...thought,
    ...calls,
  ];
}

const inputType = (role: string): string => (role === 'assistant' ? 'output_text' : 'input_text');

/** Without the object that is named like its type: its fields stand beside that. */
function flat(name: string, value: Json): object | Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { [name]: held, ...beside } = value as Readonly<Record<string, Json>>;
  return { ...(beside.cache === undefined && beside), ...(held as object), type: beside.type };
}
