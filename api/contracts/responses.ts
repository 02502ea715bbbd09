import { z } from 'zod';
import { MESSAGES_MAX, TOOLS_MAX } from '../../common/workerProtocol.ts';
import { RESPONSES_FIELDS } from '../../programs/client/verify/answer/requestFields.ts';
import {
  chatRequestOf,
  leftOutTools,
  REASONING_ID,
} from '../../programs/client/verify/answer/responsesRequest.ts';
import {
  type ChatCompletionRequest,
  countParts,
  createChatCompletionParser,
  createChatCompletionRequest,
  EFFORTS,
  faultOfContent,
  jsonSchemaFields,
  PARTS_MAX,
  toFirstFault,
  tooManyOf,
} from './chatCompletion.ts';
import { ofEachFormat } from './completionAnswer.ts';
import { ApiError } from './errors.ts';
import { type responseEcho, responseObject } from './responsesAnswer.ts';
import { route } from './route.ts';
import {
  assertFewTools,
  callId,
  eachNameOnce,
  functionFields,
  isFunction,
  listOf,
  NO_PREVIEW,
  type Preview,
  TOOLS_OFF,
  toolName,
} from './tools.ts';
import { absentOr, bodyOf, optional, parseRequest, passed, wellFormedText } from './values.ts';

const inputPart = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['input_text', 'output_text']), text: wellFormedText }),
  z.object({ type: z.literal('refusal'), refusal: wellFormedText }),
]);
const content = z.union([wellFormedText, z.array(inputPart)], { error: faultOfContent });

const messageItem = z.object({
  type: z.literal('message').nullish().describe('A message, also where it is absent.'),
  role: z
    .enum(['user', 'assistant', 'system', 'developer'], {
      error: 'must be one of user, assistant, system, developer',
    })
    .describe('`developer` is read as `system`.'),
  content: content.describe('Parts are joined: `input_text`, `output_text` and `refusal`.'),
});
const reasoningItem = z
  .object({ type: z.literal('reasoning') })
  .describe('Passed over: a model writes its own.');
/** Some clients refer to items of earlier answers, until their user sets `store`. */
const reference = z
  .object({
    type: z.literal('item_reference'),
    id: z.string().regex(new RegExp(`^${REASONING_ID}`), {
      error:
        'refers to an item, and none is stored: send the item itself, as clients do with store set ' +
        'to false',
    }),
  })
  .describe('To reasoning, which is passed over; any other is refused.');
const uncalled = [messageItem, reasoningItem, reference] as const;
const callItems = [
  z
    .object({
      type: z.literal('function_call'),
      call_id: callId,
      name: toolName,
      arguments: wellFormedText,
    })
    .meta({ withoutTools: null })
    .describe('A call of an earlier answer. It goes with the message before it.'),
  z
    .object({ type: z.literal('function_call_output'), call_id: callId, output: content })
    .meta({ withoutTools: null }),
] as const;

/** Types of items and tools that this format has, and this service does not. */
const HOSTED: readonly unknown[] = [
  ...['code_interpreter', 'file_search', 'computer_use', 'computer_use_preview', 'computer'],
  ...['image_generation', 'mcp', 'local_shell', 'shell', 'apply_patch', 'custom', 'tool_search'],
  ...['compaction', 'custom_tool_call', 'custom_tool_call_output'],
  ...['web_search_call', 'file_search_call', 'computer_call', 'code_interpreter_call'],
];

/** Known types by their names: a client that sends one has no other mistake to look for. */
const faultOfType = (others: string) => {
  return ({ input }: { input?: unknown }): string => {
    const { type } = (input ?? {}) as { type?: unknown };
    return HOSTED.includes(type) ? `has the type ${type}, which is not supported` : others;
  };
};

const createItem = ({ tools }: Preview) => {
  const ITEMS = 'must be a message, function_call, function_call_output or reasoning';
  const fault = faultOfType(ITEMS);
  const isCall = (type: unknown) => callItems.some(({ shape }) => shape.type.value === type);
  return z.discriminatedUnion('type', tools ? [...uncalled, ...callItems] : uncalled, {
    error: (issue) => {
      const { type } = (issue.input ?? {}) as { type?: unknown };
      return isCall(type) ? TOOLS_OFF : fault(issue);
    },
  });
};

const leftOutTool = z.looseObject({ type: z.enum(RESPONSES_FIELDS.left_out_tools) });
const tool = z.discriminatedUnion(
  'type',
  [z.looseObject({ type: isFunction, ...functionFields }), leftOutTool],
  { error: faultOfType('must be of type function') },
);
const offeredTools = listOf(tool, TOOLS_MAX).superRefine(
  eachNameOnce((one) => (one.type === 'function' ? one.name : undefined), ['name']),
);
const choice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.looseObject({ type: isFunction, name: toolName }),
]);

/** Of tools where they are off: those that are left out anyhow. */
const toolsOff = absentOr(TOOLS_OFF, [z.array(leftOutTool)]);

const textFormat = z.union([
  z.looseObject({ type: z.enum(['text', 'json_object']) }),
  z.looseObject({ type: z.literal('json_schema'), ...jsonSchemaFields }),
]);

/** The fields of a chat completion that a request of responses names otherwise. */
const NAMES: Readonly<Record<string, string>> = {
  messages: 'input',
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  response_format: 'text.format',
  reasoning_effort: 'reasoning.effort',
};

const STATELESS = 'is not supported, since nothing is stored: send the whole conversation as input';

/** Why a field is refused; others are not supported. */
const FAULTS: Readonly<Record<string, string>> = {
  previous_response_id: STATELESS,
  conversation: STATELESS,
  background: 'must be false: an answer is sent on the connection that asked for it',
  truncation: 'must be disabled: what is too long is refused',
  ...Object.fromEntries(
    Object.entries(NAMES).map(([name, own]) => [
      name,
      `is a field of chat completions: send ${own}`,
    ]),
  ),
};

const refused = Object.fromEntries(
  Object.entries(RESPONSES_FIELDS.off).map(([field, off]) => [
    field,
    absentOr(
      FAULTS[field] ?? 'is not supported',
      off.map((value) => z.literal(value as string | boolean)),
    ).describe('Refused, unless it is absent or off.'),
  ]),
);

/** What would be in an answer if it could. */
const LOGPROBS = 'message.output_text.logprobs';

const ignored = (why: string) => z.unknown().optional().describe(why);

/** @param input in some of its forms, or all */
const requestOf = (input: z.ZodType, preview: Preview) => {
  const chat = createChatCompletionRequest(preview).shape;
  const { messages, max_tokens, max_completion_tokens, response_format, ...others } = chat;
  const { reasoning_effort, tools, tool_choice, stream_options, ...shared } = others;
  return bodyOf({
    ...shared,
    input: input.describe(
      'The conversation: a text of the user, or items. At most 2,047 items, with 4,096 parts.',
    ),
    instructions: optional(wellFormedText).describe('A system message before the input.'),
    max_output_tokens: max_tokens.describe('As `max_tokens` of a chat completion.'),
    text: optional(
      z.looseObject({
        format: passed(
          textFormat,
          'must be of type text, json_object, or json_schema with a name',
        ).describe('As `response_format`: `svc.format_kept` says whether it was kept.'),
      }),
    ),
    reasoning: optional(
      z.looseObject({
        effort: optional(
          z.enum(EFFORTS, { error: `must be one of ${EFFORTS.join(', ')}` }),
        ).describe('As `reasoning_effort`.'),
      }),
    ),
    tools: (preview.tools ? offeredTools : toolsOff).describe(
      `Functions. Known clients always send others: ${RESPONSES_FIELDS.left_out_tools.join(', ')}. ` +
        'Those are left out, and the header `x-svc-left-out-tools` names their types.',
    ),
    tool_choice: (preview.tools
      ? passed(choice, 'must be none, auto, required, or a function by its name')
      : absentOr(TOOLS_OFF, [z.literal('none')])
    ).describe('As in a chat completion.'),
    metadata: optional(z.record(z.string(), z.unknown())).describe('Repeated in the answer.'),
    store: optional(z.boolean()).describe('Nothing is stored either way: the answer says so.'),
    include: optional(
      z
        .array(z.unknown())
        .refine((named) => !named.includes(LOGPROBS), { error: 'must not ask for logprobs' }),
    ).describe('Passed over.'),
    stream_options: ignored('Passed over.'),
    user: ignored('Repeated in the answer, and not used.'),
    prompt_cache_key: ignored('Repeated in the answer, and not used.'),
    safety_identifier: ignored('Repeated in the answer, and not used.'),
    ...refused,
  });
};

const createItems = (preview: Preview) =>
  z
    .array(createItem(preview), { error: 'must be a string or an array of items' })
    .min(1, { error: 'must hold at least one item' });

/** The body of POST /v1/responses. Unknown fields are ignored. */
export const createResponsesRequest = (preview: Preview) =>
  requestOf(z.union([wellFormedText, createItems(preview)]), preview);

/** The body without any preview. */
export const responsesRequest = createResponsesRequest(NO_PREVIEW);

export type ResponseEcho = z.infer<typeof responseEcho>;

/** A request of responses, as the chat completion that it is. */
export interface ResponsesRequest {
  chat: ChatCompletionRequest;
  echo: ResponseEcho;
  /** The types of tools that the model is not offered. */
  leftOut: readonly string[];
}

/** What parses a body. It throws ApiError `invalid_request`. */
export function createResponsesParser(preview: Preview) {
  const item = createItem(preview);
  // Within a union, a fault of one item would be one of all.
  const ofText = requestOf(wellFormedText, preview);
  const ofItems = requestOf(createItems(preview), preview);
  const parseChat = createChatCompletionParser(preview);
  const parseAsChat = (chat: object) => {
    try {
      return parseChat(chat);
    } catch (error) {
      throw error instanceof ApiError ? inNamesOfResponses(error) : error;
    }
  };
  return (body: unknown): ResponsesRequest => {
    const { input } = (body ?? {}) as { input?: unknown };
    if (Array.isArray(input)) assertFewItems(input);
    assertFewTools(body);
    const cut = Array.isArray(input)
      ? { ...(body as object), input: toFirstFault(input, item) }
      : body;
    const asked = parseRequest(typeof input === 'string' ? ofText : ofItems, cut);
    const chat = parseAsChat(chatRequestOf(body as Record<string, unknown>));
    return { chat, echo: echoOf(asked, chat), leftOut: leftOutTools(asked.tools) };
  };
}

/** Bounds the items before any of them is checked. @throws ApiError `invalid_request` */
function assertFewItems(input: readonly unknown[]): void {
  if (countParts(input) > PARTS_MAX)
    throw tooManyOf('input', `${PARTS_MAX} parts in all`, { max_parts: PARTS_MAX });
  // The instructions are a message, too.
  const most = MESSAGES_MAX - 1;
  if (input.length > most) throw tooManyOf('input', `${most} items`, { max_messages: most });
}

/** With what is absent, as answers of this format have it. */
function formatOf(format: { type: string } = { type: 'text' }) {
  if (format.type !== 'json_schema') return format;
  return { description: null, strict: false, ...format };
}

type Asked = z.infer<ReturnType<typeof createResponsesRequest>>;

function echoOf(asked: Asked, chat: ChatCompletionRequest): ResponseEcho {
  const { instructions, text, reasoning, tools, tool_choice, metadata } = asked;
  const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);
  const offered = Array.isArray(tools) ? tools.filter(({ type }) => type === 'function') : [];
  return {
    instructions: instructions ?? null,
    tools: offered.map((one) => ({ description: null, parameters: null, strict: null, ...one })),
    tool_choice: tool_choice ?? 'auto',
    parallel_tool_calls: chat.parallel_tool_calls ?? true,
    text: { format: formatOf(text?.format) },
    reasoning: { effort: reasoning?.effort ?? null, summary: null },
    temperature: chat.temperature ?? 1,
    top_p: chat.top_p ?? 1,
    presence_penalty: chat.presence_penalty ?? 0,
    frequency_penalty: chat.frequency_penalty ?? 0,
    max_output_tokens: chat.max_tokens ?? null,
    metadata: metadata ?? {},
    user: textOrNull(asked.user),
    prompt_cache_key: textOrNull(asked.prompt_cache_key),
    safety_identifier: textOrNull(asked.safety_identifier),
    ...{ store: false, background: false, truncation: 'disabled', service_tier: 'default' },
    ...{ previous_response_id: null, max_tool_calls: null, top_logprobs: 0 },
  };
}

const NAMED = new RegExp(`(['\`])(${Object.keys(NAMES).join('|')})(?:[.[][^'\`]*)?\\1`, 'g');

/** What follows a field's name is a place among messages that the client did not send. */
export function inNamesOfResponses(error: ApiError): ApiError {
  const { param } = error.options;
  const [field = ''] = param?.split(/[.[]/) ?? [];
  const message = error.message.replace(
    NAMED,
    (_whole, quote: string, name: string) => `${quote}${NAMES[name]}${quote}`,
  );
  const options = { ...error.options, param: NAMES[field] ?? param, cause: error };
  return new ApiError(error.code, message, options as never);
}

export const responsesRoutes = {
  createResponse: route('POST', '/responses', ['key'], {
    needsSpender: true,
    summary: 'the same in the format of responses, for keys alone',
    body: responsesRequest,
    answer: responseObject,
    form: 'response',
    docs: {
      tag: 'Completions',
      summary: 'Ask a model, in the format of responses',
      description: [
        'Our choice: a second format of the same job. The request is translated into a chat completion, ' +
          'and all that is said there holds here: price, proof, settlement, repeats and errors.',
        'With `stream: true` each event has its type as a name, and a `sequence_number` without a gap. ' +
          '`response.completed`, or `response.incomplete` of a cut answer, comes once the signed proof ' +
          'of the worker was checked against the delivered text. `data: [DONE]` follows at once. ' +
          'A failure behind the first event is an event `error`, and then `response.failed`.',
        'Nothing is stored: `store` is always false in the answer, and a conversation is sent whole. ' +
          'Fields of chat completions that are not named here otherwise may be sent, too.',
      ].join('\n\n'),
      ...ofEachFormat,
      headers: [...ofEachFormat.headers, 'x-svc-left-out-tools'],
    },
  }),
};
