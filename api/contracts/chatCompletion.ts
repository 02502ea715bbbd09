import { z } from 'zod';

/** Lone surrogates cannot be encoded as UTF-8, so such a text has no hash that both sides share. */
const text = z.string().refine((value) => value.isWellFormed(), {
  message: 'must not contain lone surrogates',
});

const textPart = z.object({ type: z.literal('text'), text });

/** A string, or the text parts that some clients send instead; read as one string. */
const content = z.union([text, z.array(textPart).transform((parts) => joinParts(parts))], {
  error: 'must be a string or an array of text parts',
});

function joinParts(parts: { text: string }[]): string {
  return parts.map((part) => part.text).join('');
}

const message = z.object({
  role: z
    .enum(['system', 'user', 'assistant', 'developer'], {
      error: 'must be one of system, user, assistant',
    })
    // The newer name of the same role.
    .transform((role) => (role === 'developer' ? ('system' as const) : role))
    .describe('Our choice: `developer` is read as `system`.'),
  content: content.describe('The text. Our choice: an array of text parts is joined.'),
});

/** null counts as absent for every optional field. */
function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** A part of the format that this service does not have: absent, or a value that means "off". */
function unsupported(isOff: (value: unknown) => boolean) {
  return z
    .unknown()
    .refine((value) => value === null || isOff(value), { message: 'is not supported' })
    .optional()
    .describe('Our choice: not supported, and refused unless it is absent or off.');
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

const tokenCount = z
  .int({ error: 'must be an integer' })
  .min(1)
  .max(2 ** 31 - 1);

const stopSequence = text
  .refine((value) => value.length >= 1 && value.length <= 256, {
    message: 'must have 1 to 256 characters',
  })
  .meta({ minLength: 1, maxLength: 256 });

export const MESSAGES_MAX = 2_048;

/** The body of POST /v1/chat/completions. Unknown fields are ignored. */
export const chatCompletionRequest = z
  .object(
    {
      model: z.string().min(1).max(256).describe('The id of a model, as GET /v1/models lists it.'),
      messages: z
        .array(message)
        .min(1)
        .max(MESSAGES_MAX)
        .describe('The conversation. Our choice: at most 2,048 messages.'),
      stream: optional(z.boolean()).describe('`true` for server-sent events; default `false`.'),
      stream_options: optional(
        z.object({
          include_usage: optional(z.boolean()).describe('Adds a chunk with the usage at the end.'),
        }),
      ).describe('Our choice: the part of the format that streams need.'),
      max_tokens: optional(tokenCount).describe(
        'The most tokens to generate. Our choice: by default what `credits_per_request` covers at ' +
          'the rate per 1,000; never more than the context window leaves.',
      ),
      max_completion_tokens: optional(tokenCount).describe(
        'Our choice: another name for `max_tokens`; equal if both are given.',
      ),
      temperature: optional(z.number().min(0).max(2)).describe('Sampling temperature.'),
      top_p: optional(z.number().min(0).max(1)).describe('Nucleus sampling probability.'),
      stop: optional(
        z.union([stopSequence.transform((one) => [one]), z.array(stopSequence).max(16)], {
          error: 'must be a string of 1 to 256 characters, or up to 16 of them',
        }),
      ).describe('Stop sequences. Our choice: up to 16, of 1 to 256 characters each.'),
      frequency_penalty: optional(z.number().min(-2).max(2)),
      presence_penalty: optional(z.number().min(-2).max(2)),
      seed: optional(z.int()).describe('For sampling; equal answers are not guaranteed.'),
      n: optional(z.literal(1, { error: 'only one choice is supported' })).describe(
        'Our choice: 1 or absent.',
      ),
      tools: unsupported(isEmpty),
      functions: unsupported(isEmpty),
      tool_choice: unsupported((value) => value === 'none' || isEmpty(value)),
      function_call: unsupported((value) => value === 'none' || isEmpty(value)),
      logit_bias: unsupported(isEmpty),
      logprobs: unsupported((value) => value === false),
      top_logprobs: unsupported((value) => value === 0),
      response_format: unsupported(
        (value) => isEmpty(value) || (value as { type?: unknown }).type === 'text',
      ),
      modalities: unsupported(
        (value) => Array.isArray(value) && value.every((modality) => modality === 'text'),
      ),
      audio: unsupported(isEmpty),
    },
    { error: 'must be a JSON object' },
  )
  .refine(
    (body) =>
      body.max_tokens === undefined ||
      body.max_completion_tokens === undefined ||
      body.max_tokens === body.max_completion_tokens,
    { path: ['max_completion_tokens'], message: 'must equal max_tokens when both are given' },
  );

export type ChatCompletionRequest = z.infer<typeof chatCompletionRequest>;

/** The most tokens the client wants, or undefined when it left that to the service. */
export function wantedTokens(request: ChatCompletionRequest): number | undefined {
  return request.max_tokens ?? request.max_completion_tokens;
}
