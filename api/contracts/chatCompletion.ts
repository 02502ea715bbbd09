import { z } from 'zod';
import {
  MESSAGES_MAX,
  PASSED_FIELDS,
  STOP_SEQUENCE_CHARACTERS_MAX,
  STOP_SEQUENCES_MAX,
} from '../../common/workerProtocol.ts';
import { ApiError } from './errors.ts';
import {
  assertFewTools,
  messageFields,
  NO_PREVIEW,
  type Preview,
  roleFault,
  toolRequestFields,
  toolsFault,
} from './tools.ts';
import {
  absentOr,
  optional,
  parseRequest,
  passed,
  textOfLength,
  unsupported,
  wellFormedText,
} from './values.ts';

/** The most parts of all messages: checking one takes far longer than its few bytes suggest. */
export const PARTS_MAX = 4_096;

const textPart = z.object({ type: z.literal('text'), text: wellFormedText });
/** Clients send back the refusal of an earlier turn. */
const refusalPart = z
  .object({ type: z.literal('refusal'), refusal: wellFormedText })
  .transform(({ refusal }) => ({ text: refusal }));
const part = z.discriminatedUnion('type', [textPart, refusalPart], {
  error: 'must be a part of type text or refusal',
});

const CONTENT_FORMS = 'must be a string or an array of text parts';
const IMAGE_PARTS: readonly unknown[] = ['image_url', 'input_image', 'image'];

/** Images by their name: a client that sends one has no other mistake to look for. */
export function faultOfContent({ input }: { input: unknown }): string {
  const types = Array.isArray(input) ? input.map((given) => given?.type) : [];
  const image = types.find((type) => IMAGE_PARTS.includes(type));
  return image === undefined
    ? CONTENT_FORMS
    : `holds a part of type ${image}, which is not supported yet: images are planned`;
}

/**
 * A string, or the text parts that some clients send instead; read as one string. It is read behind
 * the union: a form that is read inside hides what is wrong with a value of that form.
 */
const content = z
  .union([wellFormedText, z.array(part)], { error: faultOfContent })
  .transform((value) =>
    typeof value === 'string' ? value : value.map((part) => part.text).join(''),
  );

const ROLES = ['system', 'user', 'assistant', 'developer'] as const;
const ROLES_WITH_TOOLS = [...ROLES, 'tool'] as const;

const createMessage = (preview: Preview) =>
  z
    .object({
      role: z
        .enum(preview.tools ? ROLES_WITH_TOOLS : (ROLES as unknown as typeof ROLES_WITH_TOOLS), {
          error: ({ input }) => roleFault(input, preview),
        })
        // The newer name of the same role.
        .transform((role) => (role === 'developer' ? ('system' as const) : role))
        .describe('Our choice: `developer` is read as `system`.'),
      content: content
        .nullish()
        .describe(
          'The text; null of the assistant alone. Our choice: text parts are joined, with those of ' +
            'refusals.',
        ),
      refusal: wellFormedText
        .nullish()
        .describe('Our choice: the text of an assistant without content.'),
      ...messageFields(preview),
    })
    .transform(({ role, content, refusal, tool_calls, tool_call_id }, context) => {
      const fault = (path: string, message: string) =>
        context.addIssue({ code: 'custom', path: [path], message });
      if (content == null && role !== 'assistant') fault('content', CONTENT_FORMS);
      if (tool_calls && role !== 'assistant') fault('tool_calls', 'are of the assistant alone');
      if (role === 'tool' && tool_call_id === undefined) fault('tool_call_id', 'is required');
      return {
        role,
        content: content ?? refusal ?? '',
        ...(tool_calls && { tool_calls }),
        ...(role === 'tool' && tool_call_id !== undefined && { tool_call_id }),
      };
    });

/** What a promised form of JSON says of itself. */
export const jsonSchemaFields = {
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, {
    error: 'must have 1 to 64 letters, digits, _ or -',
  }),
  schema: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
};

const responseFormat = z
  .union([
    z.looseObject({ type: z.enum(['text', 'json_object']) }),
    z.looseObject({
      type: z.literal('json_schema'),
      json_schema: z.looseObject(jsonSchemaFields),
    }),
  ])
  .transform((format) => (format.type === 'text' ? undefined : format));

const BIAS_MAX = 100;
const BIASED_TOKEN = /^\d{1,10}$/;
const logitBias = z.record(z.string().regex(BIASED_TOKEN), z.number().min(-BIAS_MAX).max(BIAS_MAX));

const TOKENS_MAX = 2 ** 31 - 1;

const tokenCount = z
  .int({ error: `must be an integer from 1 to ${TOKENS_MAX}` })
  .min(1)
  .max(TOKENS_MAX);

const stopSequence = textOfLength(1, STOP_SEQUENCE_CHARACTERS_MAX);
const stop = z
  .union([stopSequence, z.array(stopSequence).max(STOP_SEQUENCES_MAX)], {
    error: `must be a string of 1 to ${STOP_SEQUENCE_CHARACTERS_MAX} characters, or up to ${STOP_SEQUENCES_MAX} of them`,
  })
  // Without a sequence it ends no answer.
  .transform((value) => (value.length === 0 ? undefined : [value].flat()));

/** Beyond these, JSON numbers lose digits, and a model would get another seed. */
const seed = z
  .int({ error: 'must be an integer from -(2^53 - 1) to 2^53 - 1' })
  .meta({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });

const CEILING_FAULT = 'must be an integer from 1 to 2^53 - 1';
const creditCeiling = z
  .int({ error: CEILING_FAULT })
  .min(1, { error: CEILING_FAULT })
  .meta({ maximum: Number.MAX_SAFE_INTEGER });

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;

/** The most elements of a list that are checked in full, since only the first fault is reported. */
const FAULTY_MAX = 64;

/** The body of POST /v1/chat/completions. Unknown fields are ignored. */
export const createChatCompletionRequest = (preview: Preview) =>
  z
    .object(
      {
        // Of any form, an id of no model is `model_not_found`: that is the catalog's to say.
        model: z.string().describe('The id of a model, as GET /v1/models lists it.'),
        messages: z
          .array(createMessage(preview), { error: 'must be an array of messages' })
          .min(1, { error: 'must hold at least one message' })
          .max(MESSAGES_MAX, { error: `must hold at most ${MESSAGES_MAX} messages` })
          .describe(
            'The conversation. Our choice: at most 2,048 messages, with 4,096 text parts in all. The ' +
              'whole body has at most 2 MiB, 128 levels and 50,000 values, any other field 16,384.',
          ),
        stream: optional(z.boolean()).describe('`true` for server-sent events; default `false`.'),
        stream_options: optional(
          z.object({
            include_usage: optional(z.boolean()).describe(
              'Adds a chunk with the usage at the end.',
            ),
          }),
        ).describe('Our choice: the part of the format that streams need.'),
        max_tokens: optional(tokenCount).describe(
          'The most tokens to generate, those of a reasoning model before its answer included. Our ' +
            'choice: by default what `credits_per_request` covers at the rate per 1,000; never more ' +
            'than the context window leaves.',
        ),
        max_completion_tokens: optional(tokenCount).describe(
          'Our choice: another name for `max_tokens`; equal if both are given.',
        ),
        temperature: optional(z.number().min(0).max(2)).describe('Sampling temperature.'),
        top_p: optional(z.number().min(0).max(1)).describe('Nucleus sampling probability.'),
        stop: optional(stop).describe(
          'Stop sequences. Our choice: up to 16, of 1 to 256 characters each.',
        ),
        frequency_penalty: optional(z.number().min(-2).max(2)),
        presence_penalty: optional(z.number().min(-2).max(2)),
        seed: optional(seed).describe('For sampling; equal answers are not guaranteed.'),
        max_credits: optional(creditCeiling).describe(
          'Our choice: the most credits that the request may lock; above it, `price_above_limit`, and ' +
            'nothing is locked. The header `x-svc-max-credits` says the same.',
        ),
        n: absentOr('only one choice is supported', [z.literal(1)]).describe(
          'Our choice: 1 or absent.',
        ),
        response_format: passed(
          responseFormat,
          'must be of type text, json_object, or json_schema with a name',
        ).describe(
          'The form of the answer: `text`, `json_object`, or `json_schema` with a schema. Our choice: it ' +
            'is passed on, and `svc.format_kept` of the answer says whether it was kept. Refused with ' +
            'an integer beyond 2^53 - 1 in it.',
        ),
        top_k: passed(z.int().min(-1).max(TOKENS_MAX), 'must be an integer from -1').describe(
          'Our choice: sampling from the most probable tokens; -1 or 0 for all.',
        ),
        min_p: passed(z.number().min(0).max(1), 'must be a number from 0 to 1').describe(
          'Our choice: the least probability, relative to the most probable token.',
        ),
        repetition_penalty: passed(
          z.number().min(0).max(2),
          'must be a number from 0 to 2',
        ).describe('Our choice: above 1, repeated tokens become less probable.'),
        reasoning_effort: passed(z.enum(EFFORTS), `must be one of ${EFFORTS.join(', ')}`).describe(
          'How long a reasoning model thinks.',
        ),
        chat_template_kwargs: passed(
          z.record(z.string(), z.unknown()),
          'must be an object',
        ).describe(
          "Our choice: arguments of the model's chat template, such as `enable_thinking`; refused with " +
            'an integer beyond 2^53 - 1 in them.',
        ),
        logit_bias: passed(logitBias, 'must map token ids to numbers from -100 to 100').describe(
          'From token ids to numbers from -100 to 100.',
        ),
        ...toolRequestFields(preview),
        logprobs: unsupported(z.literal(false)),
        top_logprobs: unsupported(z.literal(0)),
        best_of: unsupported(z.literal(1)),
        prediction: unsupported(),
        models: unsupported(),
        guided_json: unsupported(),
        guided_regex: unsupported(),
        guided_choice: unsupported(),
        guided_grammar: unsupported(),
        modalities: unsupported(z.array(z.literal('text')).max(1)),
        audio: unsupported(),
      },
      { error: 'must be a JSON object' },
    )
    .refine(
      (body) =>
        body.max_tokens === undefined ||
        body.max_completion_tokens === undefined ||
        body.max_tokens === body.max_completion_tokens,
      { path: ['max_completion_tokens'], message: 'must equal max_tokens when both are given' },
    )
    .superRefine((body, context) => {
      const message = toolsFault(body);
      if (message) context.addIssue({ code: 'custom', path: ['tool_choice'], message });
    });

/** The body without any preview. */
export const chatCompletionRequest = createChatCompletionRequest(NO_PREVIEW);

export type ChatCompletionRequest = z.infer<typeof chatCompletionRequest>;

/** The fields that a request may set. A model server's refusal of one is passed on. */
export const SUPPORTED_PARAMETERS = [
  'max_tokens',
  'max_completion_tokens',
  ...PASSED_FIELDS,
] as const satisfies readonly (keyof ChatCompletionRequest)[];

const CEILING_HEADER = 'x-svc-max-credits';

/**
 * The request with the ceiling that its header names.
 *
 * @throws ApiError `invalid_request` for a malformed header, or another ceiling than the body's
 */
export function withCeiling(
  request: ChatCompletionRequest,
  header: string | undefined,
): ChatCompletionRequest {
  if (header === undefined) return request;
  const param = CEILING_HEADER;
  const max_credits = Number(/^\d{1,16}$/.test(header) ? header : Number.NaN);
  if (!creditCeiling.safeParse(max_credits).success) {
    const fault = `Invalid value for '${param}': ${CEILING_FAULT}.`;
    throw new ApiError('invalid_request', fault, { param });
  }
  if ((request.max_credits ?? max_credits) !== max_credits) {
    const fault = `'${param}' and 'max_credits' differ. Send one of them, or both alike.`;
    throw new ApiError('invalid_request', fault, { param });
  }
  return { ...request, max_credits };
}

/** What parses a body. It throws ApiError `invalid_request`. */
export function createChatCompletionParser(preview: Preview) {
  const schema = preview.tools ? createChatCompletionRequest(preview) : chatCompletionRequest;
  const message = schema.shape.messages.element;
  return (body: unknown): ChatCompletionRequest => {
    assertFew(body);
    if (preview.tools) assertFewTools(body);
    return parseRequest(schema, cutToFirstFault(body, message));
  };
}

/** Without any preview. */
export const parseChatCompletion = createChatCompletionParser(NO_PREVIEW);

/** Bounds the messages before any of them is checked. @throws ApiError `invalid_request` */
function assertFew(body: unknown): void {
  const { messages } = (body ?? {}) as { messages?: unknown };
  if (!Array.isArray(messages)) return;
  if (messages.length > MESSAGES_MAX) {
    throw tooManyOf('messages', `${MESSAGES_MAX} messages`, { max_messages: MESSAGES_MAX });
  }
  if (countParts(messages) > PARTS_MAX) {
    throw tooManyOf('messages', `${PARTS_MAX} text parts in all`, { max_parts: PARTS_MAX });
  }
}

export function tooManyOf(
  param: 'messages' | 'input',
  most: string,
  details: { max_messages: number } | { max_parts: number },
) {
  return new ApiError(
    'invalid_request',
    `Invalid value for '${param}': must hold at most ${most}.`,
    {
      param,
      details,
    },
  );
}

/** Counts the parts of messages, or of a call's output, that are not checked yet. */
export function countParts(messages: readonly unknown[]): number {
  return messages.reduce((sum: number, message) => {
    const { content, output } = (message ?? {}) as { content?: unknown; output?: unknown };
    const parts = content ?? output;
    return sum + (Array.isArray(parts) ? parts.length : 0);
  }, 0);
}

/**
 * Cuts lists behind their first fault, or at their maximum length: describing thousands of faults
 * takes a hundred times as long as finding one.
 */
function cutToFirstFault(body: unknown, message: z.ZodType): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { messages, stop, modalities, logit_bias: biases } = body as Record<string, unknown>;
  return {
    ...body,
    ...(Array.isArray(messages) && { messages: toFirstFault(messages, message) }),
    ...(Array.isArray(stop) && { stop: stop.slice(0, STOP_SEQUENCES_MAX + 1) }),
    ...(Array.isArray(modalities) && { modalities: modalities.slice(0, 2) }),
    ...(isLongRecord(biases) && { logit_bias: biasesToFirstFault(biases) }),
  };
}

/** A list up to its first fault, where it is long. */
export function toFirstFault(items: unknown[], item: z.ZodType): unknown[] {
  if (items.length <= FAULTY_MAX) return items;
  const fault = items.findIndex((one) => !item.safeParse(one).success);
  return fault === -1 ? items : items.slice(0, fault + 1);
}

function isLongRecord(value: unknown): value is Record<string, unknown> {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord && Object.keys(value).length > FAULTY_MAX;
}

function biasesToFirstFault(biases: Record<string, unknown>): Record<string, unknown> {
  const isFault = ([token, bias]: [string, unknown]) =>
    !BIASED_TOKEN.test(token) || typeof bias !== 'number' || !(Math.abs(bias) <= BIAS_MAX);
  const fault = Object.entries(biases).find(isFault);
  return fault ? { [fault[0]]: fault[1] } : biases;
}
