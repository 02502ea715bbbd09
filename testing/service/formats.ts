import assert from 'node:assert/strict';
import type { ErrorBody } from '../../api/contracts/errors.ts';
import type { FinishReason } from '../../common/workerProtocol.ts';
import type { ToolCall } from '../../programs/client/statement.ts';

export const FORMS = ['plain', 'stream'] as const;
export type Form = (typeof FORMS)[number];
export const ROUTES = ['chat/completions', 'responses'] as const;
export type Route = (typeof ROUTES)[number];
/** Every form of an answer on every route: what ends a job ends it alike for all of them. */
export const ROUTED_FORMS = ROUTES.flatMap((route) => FORMS.map((form) => [form, route] as const));
export type RoutedForm = (typeof ROUTED_FORMS)[number];

/** What a client makes of an answer, however it came. */
export interface Output {
  text: string;
  reasoning: string;
  calls: ToolCall[];
  /** As a chat completion says it; null where there is no whole answer. */
  finishReason: FinishReason | null;
  /** What is charged. */
  completionTokens: number | undefined;
  isTruncated: boolean;
  /** The error of an error status, or of the event that ended a stream. */
  error: ErrorBody['error'] | undefined;
}

const NOTHING: Output = {
  ...{ text: '', reasoning: '', calls: [], finishReason: null },
  ...{ completionTokens: undefined, isTruncated: false, error: undefined },
};

type Fields = Record<string, unknown>;

/** A chat completion's body as the route takes it, so that a test says its case once. */
export function bodyFor(route: Route, chat: Fields): Fields {
  if (route === 'chat/completions') return chat;
  const { messages, max_tokens, max_completion_tokens, response_format, ...others } = chat;
  const { tools, tool_choice, reasoning_effort, stream_options, ...shared } = others;
  return {
    ...shared,
    input: (messages as Message[]).flatMap(itemsOfMessage),
    max_output_tokens: max_completion_tokens ?? max_tokens,
    ...(response_format !== undefined && { text: { format: flat(response_format) } }),
    ...(reasoning_effort !== undefined && { reasoning: { effort: reasoning_effort } }),
    ...(tools !== undefined && { tools: (tools as unknown[]).map(flat) }),
    tool_choice: flat(tool_choice),
  };
}

interface Message {
  role: string;
  content: unknown;
  tool_calls?: { id: string; function: object }[];
  tool_call_id?: string;
}

function itemsOfMessage({ role, content, tool_calls = [], tool_call_id }: Message): object[] {
  if (role === 'tool') {
    return [{ type: 'function_call_output', call_id: tool_call_id, output: content }];
  }
  const calls = tool_calls.map(({ id, function: called }) => ({
    ...{ type: 'function_call', call_id: id },
    ...called,
  }));
  return content === null ? calls : [{ role, content }, ...calls];
}

/** What a chat completion has in an object that is named like its type stands beside that here. */
function flat(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { type, ...rest } = value as { type: string } & Fields;
  return { type, ...((rest[type] as object | undefined) ?? rest) };
}

/**
 * Reads a body of either format, and holds its parts against each other.
 *
 * @param jobId as the header names it
 * @throws AssertionError for a stream that clients read one way or another, or that ends without saying how
 */
export function readOutput(body: string, isStream: boolean, jobId: string | undefined): Output {
  if (isStream) return readStream(body, jobId);
  if (body === '') return NOTHING;
  const whole = JSON.parse(body);
  if (whole.error) return { ...NOTHING, error: whole.error };
  if (whole.object === 'response') return outputOf(whole, jobId);
  return whole.choices ? outputOfChunks([whole], jobId) : NOTHING;
}

const DONE = 'data: [DONE]\n\n';

function readStream(body: string, jobId: string | undefined): Output {
  const isDone = body.endsWith(DONE);
  const events = [...body.matchAll(/^(?:event: (.*)\n)?data: (\{.*)$/gm)].map(
    ([, name, data = '']) => ({ name, said: JSON.parse(data) }),
  );
  const isOfResponses = events[0]?.name !== undefined;
  const said = events.map((event) => event.said);
  const output = isOfResponses ? outputOfEvents(said, jobId) : outputOfChunks(said, jobId);
  if (isOfResponses)
    assert.deepEqual(
      events.map(({ name }) => name),
      said.map(({ type }) => type),
    );
  assert.equal(isDone, output.error === undefined, 'a stream ends with [DONE] or its error');
  return output;
}

/** A message, or a delta of one. */
interface Said {
  content?: string | null;
  reasoning_content?: string;
  tool_calls?: { index?: number; id?: string; function: Partial<ToolCall> }[];
}

interface Chunk {
  id?: string;
  choices?: { message?: Said; delta?: Said; finish_reason: FinishReason | null }[];
  usage?: { completion_tokens: number } | null;
  svc?: { truncated?: string };
  error?: ErrorBody['error'];
}

/** @param chunks of a stream, or a whole completion */
function outputOfChunks(chunks: readonly Chunk[], jobId: string | undefined): Output {
  const output = { ...NOTHING, calls: [] as ToolCall[] };
  for (const { id, choices: [choice] = [], usage, svc, error } of chunks) {
    output.error ??= error;
    if (!error) assert.equal(id, `chatcmpl-${jobId}`);
    output.completionTokens ??= usage?.completion_tokens;
    output.finishReason ??= choice?.finish_reason ?? null;
    output.isTruncated ||= svc?.truncated === 'deadline';
    const { content, reasoning_content, tool_calls = [] } = choice?.message ?? choice?.delta ?? {};
    output.text += content ?? '';
    output.reasoning += reasoning_content ?? '';
    for (const [at, { index = at, id: callId = '', function: called }] of tool_calls.entries()) {
      const { name = '', arguments: written = '' } = called;
      const call = output.calls[index];
      if (call) output.calls[index] = { ...call, arguments: call.arguments + written };
      else output.calls[index] = { id: callId, name, arguments: written };
    }
  }
  return output;
}

interface Item {
  type: 'message' | 'reasoning' | 'function_call';
  id: string;
  status: string;
  content?: { text: string }[];
  call_id: string;
  name: string;
  arguments?: string;
}

interface WholeResponse {
  id: string;
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  incomplete_details: { reason: string } | null;
  error: { code: string; message: string } | null;
  output: Item[];
  usage: { output_tokens: number } | null;
  svc?: { truncated?: string };
}

const writtenIn = ({ content, arguments: written }: Item): string =>
  written ?? (content ?? []).map(({ text }) => text).join('');

function outputOf(response: WholeResponse, jobId: string | undefined): Output {
  const { id, status, output, usage, svc, incomplete_details } = response;
  assert.equal(id, `resp_${jobId}`);
  for (const [at, item] of output.entries()) {
    // A worker whose pieces were forgotten left no item: the places begin at 0.
    assert.match(item.id, new RegExp(`^[a-z]+_[0-9a-f]{32}_${at}$`));
  }
  const textOf = (type: Item['type']) =>
    output.map((item) => (item.type === type ? writtenIn(item) : '')).join('');
  const calls = output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ id: item.call_id, name: item.name, arguments: writtenIn(item) }]
      : [],
  );
  const { reason } = incomplete_details ?? {};
  assert.equal(reason !== undefined, status === 'incomplete');
  return {
    ...{ text: textOf('message'), reasoning: textOf('reasoning'), calls, error: undefined },
    finishReason: finishReasonOf(status, reason, calls.length > 0),
    completionTokens: usage?.output_tokens,
    isTruncated: svc?.truncated === 'deadline',
  };
}

function finishReasonOf(
  status: WholeResponse['status'],
  reason: string | undefined,
  hasCalls: boolean,
): FinishReason | null {
  if (status === 'completed') return hasCalls ? 'tool_calls' : 'stop';
  if (status === 'failed') return null;
  return reason === 'max_output_tokens' ? 'length' : (reason as FinishReason);
}

interface Event {
  type: string;
  sequence_number: number;
  output_index: number;
  delta?: string;
  item: Item;
  response: WholeResponse;
  error: ErrorBody['error'];
}

const ENDS = /^response\.(completed|incomplete|failed)$/;

function outputOfEvents(events: readonly Event[], jobId: string | undefined): Output {
  assert.deepEqual(
    events.map(({ sequence_number }) => sequence_number),
    events.map((_, place) => place),
  );
  const [{ response }] = events.filter(({ type }) => ENDS.test(type)) as [Event];
  assert.equal(events.at(-1)?.response, response, 'its end comes once, and last');
  const error = events.find(({ type }) => type === 'error')?.error;
  assert.equal(error !== undefined, response.status === 'failed');
  assert.deepEqual(response.error, error ? { code: error.code, message: error.message } : null);
  assertWritten(events, response);
  return { ...outputOf(response, jobId), error };
}

/** Some clients read the pieces, others the items, others the whole: all have the same. */
function assertWritten(events: readonly Event[], { output, status }: WholeResponse): void {
  const added = events.filter(({ type }) => type === 'response.output_item.added');
  assert.deepEqual(
    added.map(({ item, output_index }) => [output_index, item.id]),
    output.map(({ id }, place) => [place, id]),
  );
  const pieces = output.map(() => '');
  for (const { output_index, delta } of events) if (delta) pieces[output_index] += delta;
  assert.deepEqual(pieces, output.map(writtenIn));
  if (status === 'failed') return;
  const done = events.filter(({ type }) => type === 'response.output_item.done');
  done.sort((one, other) => one.output_index - other.output_index);
  assert.deepEqual(
    done.map(({ item }) => item),
    output,
  );
}
