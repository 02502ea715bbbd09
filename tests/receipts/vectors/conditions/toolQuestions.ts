import { utf8 } from '../../../../programs/client/platform/bytes.ts';
import { canonicalJson, type Json } from '../../../../programs/client/proof.ts';
import { type ToolCall, toolCallsAsJson } from '../../../../programs/client/statement.ts';
import { addresses } from '../../../../testing/ledger/jobScene.ts';
import type { Random } from '../../../../testing/random.ts';
import { type AnsweredJob, drawCall } from '../answeredJob.ts';
import { drawText, drawWords } from '../draw.ts';
import { set } from '../fields.ts';
import { type Change, inAccount } from '../nodeChanges.ts';
import type { Body } from '../requestForms.ts';
import type { Condition } from './condition.ts';

/** What a worker is given of a request with tools, in a conversation that has called some. */
export interface WithTools {
  readonly messages: readonly Message[];
  readonly tools: readonly { readonly type: 'function'; readonly function: Tool }[];
  readonly tool_choice: Json;
  readonly parallel_tool_calls: boolean;
}

interface Message {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly SentCall[];
  readonly tool_call_id?: string;
}

type SentCall = ReturnType<typeof toolCallsAsJson>[number];

type Tool = Readonly<Record<string, Json>>;

export function drawWithTools(random: Random): WithTools {
  const calls = [drawCall(random), drawCall(random)].map((call, at) => ({
    ...call,
    ...{ id: `${call.id}_${at}`, name: `tool_${at}` },
  }));
  const ofTool = ({ name }: ToolCall) => ({
    type: 'function' as const,
    function: {
      ...{ name, description: drawWords(random, 3), strict: null },
      parameters: { type: 'object', properties: { [drawText(random, 5)]: { const: -0.0 } } },
    },
  });
  return {
    messages: [
      { role: 'user', content: drawWords(random, 4) },
      { role: 'assistant', content: '', tool_calls: toolCallsAsJson(calls) },
      ...calls.map(({ id }) => ({ role: 'tool', content: drawText(random), tool_call_id: id })),
    ],
    tools: calls.map(ofTool),
    tool_choice: { type: 'function', function: { name: 'tool_1' } },
    parallel_tool_calls: random.below(2) === 0,
  };
}

/** Questions that offer tools: other spellings of one, and others than that. */
export function toolConditions({ address, body, svc, tokenLimit }: AnsweredJob): Condition[] {
  const sent = body as Body & WithTools;
  const ask = (name: string, changed: object, is: string, change?: Change): Condition => ({
    ...{ name, job: address, salt: String(svc.request_salt), isAll: true, is },
    ...{ answer_details: String(svc.answer_details), ...(change && { change }) },
    request: JSON.stringify({ ...sent, ...changed }).replaceAll('"proto"', '"__proto__"'),
  });
  const holds = 'holds delivery.request';
  const fails = 'fails delivery.request';
  const model = addresses.model(String(body.model));
  const window = (tokens: number) =>
    inAccount(model, 'Model', set({ context_window_tokens: promptBytes(sent) + tokens }));
  const more = { max_tokens: tokenLimit + 1 };
  return [
    ...Object.entries(sameOf(sent)).map(([name, changed]) =>
      ask(`a question with tools: ${name}`, changed, holds),
    ),
    ...Object.entries(othersOf(sent)).map(([name, changed]) =>
      ask(`another question with tools: ${name}`, changed, fails),
    ),
    ask('tools that fill the context window', more, holds, window(tokenLimit)),
    ask('tools that leave one token more', more, fails, window(tokenLimit + 1)),
  ];
}

function promptBytes({ messages, tools }: WithTools): number {
  const json = [...messages.map((one) => one.tool_calls), tools].filter((one) => one !== undefined);
  const texts = [...messages.map((one) => one.content), ...json.map((one) => canonicalJson(one))];
  return texts.reduce((sum, text) => sum + utf8(text).length, 0);
}

type Changes = Readonly<Record<string, object>>;

function sameOf({ messages, tools, tool_choice }: WithTools): Changes {
  const inCalls = inMessages(messages, 'assistant');
  return {
    'as it was sent': {},
    'in another order of fields': { tools: reversed(tools), messages: reversed(messages) },
    'with fields that are dropped': {
      tools: tools.map(({ type, function: { parameters, ...named } }) => ({
        ...{ type, proto: 1 },
        function: { ...named, proto: {}, parameters: { ...(parameters as object), proto: [] } },
      })),
      tool_choice: {
        ...(tool_choice as object),
        proto: null,
        function: { proto: 1, name: 'tool_1' },
      },
    },
    'with calls as a stream has them': inCalls(({ tool_calls = [], role }) => ({
      ...{ role, content: null },
      tool_calls: tool_calls.map((call, index) => ({
        ...{ ...call, index },
        function: { ...call.function, parsed: {} },
      })),
    })),
    'with calls and no content': inCalls(({ content: _, ...call }) => call),
    'with a result in parts': inMessages(
      messages,
      'tool',
    )(({ content, ...result }) => ({
      ...result,
      content: [...content].map((text) => ({ type: 'text', text })),
    })),
    'with calls and results of nothing elsewhere': inMessages(
      messages,
      'user',
    )((message) => ({
      ...message,
      ...{ tool_calls: [], tool_call_id: 'x' },
    })),
    'with what is turned off': { functions: [], function_call: 'none', n: 1, logprobs: false },
  };
}

function othersOf({ messages, tools, parallel_tool_calls }: WithTools): Changes {
  const [first, ...rest] = tools as [WithTools['tools'][number], ...WithTools['tools']];
  const tool = (changed: Tool) => ({
    tools: [{ ...first, function: { ...first.function, ...changed } }, ...rest],
  });
  const inCall = (change: (call: SentCall) => object) =>
    inMessages(
      messages,
      'assistant',
    )(({ tool_calls: [call, ...others] = [], ...message }) => ({
      ...message,
      tool_calls: [...(call ? [change(call)] : []), ...others],
    }));
  const inFunction = (change: (called: SentCall['function']) => object) =>
    inCall((call) => ({ ...call, function: { ...call.function, ...change(call.function) } }));
  const inResult = inMessages(messages, 'tool');
  return {
    'another name of a tool': tool({ name: 'tool' }),
    'another description': tool({ description: '' }),
    'another schema': tool({ parameters: { type: 'object' } }),
    'a strict tool': tool({ strict: true }),
    'a tool without its null': {
      tools: tools.map(({ type, function: { strict: _, ...kept } }) => ({ type, function: kept })),
    },
    'a field more in a tool': { tools: [{ ...first, cache: {} }, ...rest] },
    'a tool less': { tools: rest },
    'tools in another order': { tools: [...rest, first] },
    'no tools': { tools: [], tool_choice: 'auto' },
    'a choice of another': { tool_choice: { type: 'function', function: { name: 'tool_0' } } },
    'a choice of none': { tool_choice: 'none' },
    'no choice': { tool_choice: null },
    'one call at a time, or several': { parallel_tool_calls: !parallel_tool_calls },
    'any number of calls': { parallel_tool_calls: null },
    'another id of a call': inCall((call) => ({ ...call, id: 'call' })),
    'another name in a call': inFunction(() => ({ name: 'tool' })),
    'other arguments': inFunction(() => ({ arguments: '{}' })),
    'a space more in arguments': inFunction((one) => ({ arguments: `${one.arguments} ` })),
    'a call less': inMessages(
      messages,
      'assistant',
    )((message) => ({ ...message, tool_calls: message.tool_calls?.slice(1) })),
    'no calls': inMessages(messages, 'assistant')((message) => ({ ...message, tool_calls: [] })),
    'a text beside calls': inMessages(
      messages,
      'assistant',
    )((message) => ({ ...message, content: 'Hm.' })),
    'another result': inResult((message) => ({ ...message, content: '?' })),
    'a result of another call': inResult((message) => ({ ...message, tool_call_id: 'call' })),
    'a result of a user': inResult((message) => ({ ...message, role: 'user' })),
  };
}

/** Changes each message of a role. */
const inMessages =
  (messages: readonly Message[], role: string) =>
  (change: (message: Message) => object): { messages: readonly object[] } => ({
    messages: messages.map((message) => (message.role === role ? change(message) : message)),
  });

/** The same with the fields of all objects in another order. */
function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  const fields = Object.entries(value).map(([name, held]) => [name, reversed(held)]);
  return Object.fromEntries(fields.toReversed());
}
