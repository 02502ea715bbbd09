import { z } from 'zod';
import {
  TOOL_CALLS_MAX,
  TOOL_NAME,
  TOOL_SCHEMAS_BYTES_MAX,
  TOOLS_MAX,
} from '../../common/workerProtocol.ts';
import { ApiError } from './errors.ts';
import { absentOr, canonical, isEmpty, passed, wellFormedText } from './values.ts';

/** What an operator has turned on before it is for everybody: SVC_PREVIEW names it. */
export interface Preview {
  /** Calls of functions that the client names. */
  readonly tools: boolean;
}

export const NO_PREVIEW: Preview = { tools: false };

export const TOOLS_OFF = 'is not supported: tools are a preview, which this service has off';
/** Of the format's older fields for tools. */
const FUNCTIONS_OLD = 'is not supported: send tools instead';

const refusalOf = ({ tools }: Preview): string => (tools ? FUNCTIONS_OLD : TOOLS_OFF);

/** What is wrong with the role of a message. */
export function roleFault(role: unknown, preview: Preview): string {
  if (role === 'function' || role === 'tool') return refusalOf(preview);
  return `must be one of system, user, assistant${preview.tools ? ', tool' : ''}`;
}

export const toolName = z
  .string({ error: 'must be a string' })
  .regex(TOOL_NAME, { error: 'must have 1 to 64 letters, digits, _ or -' });

export const isFunction = z.literal('function', { error: 'must be function' });

export const callId = wellFormedText.min(1, { error: 'must not be empty' });

/** A call as an answer and a conversation have it. */
export const toolCall = z.object({
  id: callId,
  type: isFunction,
  function: z.object({
    name: toolName,
    arguments: wellFormedText.describe('JSON, as the model wrote it: it may be none.'),
  }),
});

/** A part of a call: its arguments come in pieces. */
export const toolCallDelta = z.object({
  index: z.int().min(0),
  id: z.string().optional(),
  type: isFunction.optional(),
  function: z.object({ name: z.string().optional(), arguments: z.string() }),
});

const absentIfEmpty = (value: unknown): unknown => (isEmpty(value) ? null : value);

/** A list; null, [] and {} count as absent. */
export const listOf = <Item extends z.ZodType>(item: Item, max: number) =>
  z
    .preprocess(absentIfEmpty, z.array(item).max(max).nullable())
    .optional()
    .transform((list) => list ?? undefined);

const callsOfMessage = listOf(toolCall, TOOL_CALLS_MAX);

/** The fields of a message that are of tools. */
export function messageFields(preview: Preview) {
  const served = {
    tool_calls: callsOfMessage.describe('The calls of an earlier answer, at most 128.'),
    tool_call_id: callId.optional().describe('Whose result a message of `tool` is.'),
  };
  if (preview.tools) return served;
  const refused = absentOr(TOOLS_OFF, []).describe('Our choice: refused; tools are a preview.');
  return { tool_calls: absent(refused) } as unknown as typeof served;
}

/** What is valid is off, and so absent. */
const absent = (schema: z.ZodType) => schema.transform(() => undefined);

/** What is said of a function that may be called. */
export const functionFields = {
  name: toolName.describe('Each name once.'),
  description: wellFormedText.nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish().describe('A JSON Schema.'),
  strict: z.boolean().nullish(),
};

const tool = z.looseObject({ type: isFunction, function: z.looseObject(functionFields) });

/** @param nameOf the name of one, and its path */
export const eachNameOnce =
  <Item>(nameOf: (item: Item) => unknown, path: readonly string[]) =>
  (list: readonly Item[] = [], context: z.RefinementCtx): void => {
    const names = list.map(nameOf);
    const again = names.findIndex((name, at) => name !== undefined && names.indexOf(name) < at);
    if (again === -1) return;
    const message = 'is the name of an earlier tool';
    context.addIssue({ code: 'custom', path: [again, ...path], message });
  };

const tools = canonical(
  listOf(tool, TOOLS_MAX).superRefine(
    eachNameOnce((one) => one.function.name, ['function', 'name']),
  ),
);

const toolChoice = passed(
  z.union([
    z.enum(['none', 'auto', 'required']),
    z.looseObject({ type: isFunction, function: z.looseObject({ name: toolName }) }),
  ]),
  'must be none, auto, required, or a function by its name',
);

/** The fields of a request that are of tools, and the older ones for them. */
export function toolRequestFields(preview: Preview) {
  const served = {
    tools: tools.describe(
      'The functions that the answer may call. Our choice: at most 128, with 64 KiB of parameters in ' +
        'all. Refused with an integer beyond 2^53 - 1 in them.',
    ),
    tool_choice: toolChoice.describe(
      'Whether it has to: `none`, `auto`, `required`, or one function by its name. Without tools, ' +
        '`none` and `auto` count as absent.',
    ),
    parallel_tool_calls: passed(z.boolean(), 'must be true or false').describe(
      'Whether it may call several at once.',
    ),
  };
  const older = {
    functions: planned(preview),
    function_call: planned(preview, z.literal('none')),
  };
  if (preview.tools) return { ...served, ...older };
  const off = {
    tools: planned(preview),
    functions: older.functions,
    tool_choice: planned(preview, z.literal('none')),
    function_call: older.function_call,
  };
  return off as unknown as typeof served & typeof older;
}

function planned(preview: Preview, ...off: z.ZodType[]) {
  return absent(absentOr(refusalOf(preview), off)).describe(
    preview.tools
      ? 'Our choice: refused unless it is absent or off; use `tools`.'
      : 'Our choice: refused unless it is absent or off; tools are a preview.',
  );
}

/** What is wrong with the choice among the tools of a request; undefined where nothing is. */
export function toolsFault(body: {
  tools?: readonly z.output<typeof tool>[] | undefined;
  tool_choice?: z.output<typeof toolChoice>;
}): string | undefined {
  const { tools: offered, tool_choice: choice } = body;
  if (choice === undefined || choice === 'none' || choice === 'auto') return undefined;
  if (offered === undefined) return 'needs tools';
  if (choice === 'required') return undefined;
  const isOffered = offered.some((one) => one.function.name === choice.function.name);
  return isOffered ? undefined : 'names none of the tools';
}

type Bound = 'max_tools' | 'max_tool_calls' | 'max_schema_bytes';

const tooMany = (param: string, most: string, details: Partial<Record<Bound, number>>) =>
  new ApiError('invalid_request', `Invalid value for '${param}': must hold at most ${most}.`, {
    param,
    details,
  });

/** Bounds tools and calls before any of them is checked. @throws ApiError `invalid_request` */
export function assertFewTools(body: unknown): void {
  const { tools: given, messages } = (body ?? {}) as { tools?: unknown; messages?: unknown };
  const offered: { function?: { parameters?: unknown } | null }[] = Array.isArray(given)
    ? given
    : [];
  if (offered.length > TOOLS_MAX) {
    throw tooMany('tools', `${TOOLS_MAX} tools`, { max_tools: TOOLS_MAX });
  }
  const schemas = offered.map((one) => JSON.stringify(one?.function?.parameters) ?? '');
  if (
    schemas.reduce((sum, schema) => sum + Buffer.byteLength(schema), 0) > TOOL_SCHEMAS_BYTES_MAX
  ) {
    const details = { max_schema_bytes: TOOL_SCHEMAS_BYTES_MAX };
    throw tooMany('tools', `${TOOL_SCHEMAS_BYTES_MAX} bytes of parameters in all`, details);
  }
  if (!Array.isArray(messages)) return;
  const calls = messages.findIndex(
    (one) => Array.isArray(one?.tool_calls) && one.tool_calls.length > TOOL_CALLS_MAX,
  );
  if (calls === -1) return;
  const details = { max_tool_calls: TOOL_CALLS_MAX };
  throw tooMany(`messages[${calls}].tool_calls`, `${TOOL_CALLS_MAX} calls`, details);
}
