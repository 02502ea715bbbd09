import type { AnswerDetails } from '../../programs/client/statement.ts';

/** What a job's answer says, in whichever format. */
export interface Answered {
  readonly jobId: string;
  readonly model: unknown;
  readonly text: string;
  readonly details: Pick<AnswerDetails, 'finishReason' | 'reasoning' | 'toolCalls'>;
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
  readonly cost: unknown;
  readonly svc: object;
}

interface Item {
  readonly id: string;
  readonly type: 'message' | 'reasoning' | 'function_call';
  /** The text, the reasoning, or the arguments. */
  readonly text: string;
  readonly called?: { readonly call_id: string; readonly name: string };
}

export type Response = ReturnType<typeof responseOf>;

const TEXTS = {
  message: 'output_text',
  reasoning: 'reasoning_text',
  function_call: 'function_call_arguments',
} as const;

/** The plain answer of `POST /v1/responses`, with what it repeats of a request. */
export function responseOf({ jobId, model, text, details, usage, cost, svc }: Answered) {
  const reasons: Readonly<Record<string, string>> = {
    length: 'max_output_tokens',
    content_filter: 'content_filter',
  };
  const reason = reasons[details.finishReason];
  return {
    ...{ id: `resp_${jobId}`, object: 'response', created_at: 1_795_800_000 },
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    ...{ error: null, model },
    output: itemsOf(text, details).map((item) => itemOf(item, item.text)),
    ...{ instructions: null, tools: [{ type: 'function', name: 'f', parameters: { Name: {} } }] },
    usage: { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens, cost },
    svc,
  };
}

/** The events of its stream, with its texts in pieces. */
export function eventsOf(response: Response, pieces: (text: string) => readonly string[]) {
  const begun = { ...response, status: 'in_progress', output: [], usage: null, svc: undefined };
  const said = response.output.flatMap((item, at) => eventsOfItem(item, at, pieces));
  return [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...said,
    { type: `response.${response.status}`, response },
  ].map(({ type, ...event }, sequence_number) => ({ type, sequence_number, ...event }));
}

/** Each with its type as a name. */
export const asStream = (events: readonly { readonly type: string }[]): string =>
  `${events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;

/** Text stands behind reasoning, and calls behind text. */
function itemsOf(text: string, { reasoning, toolCalls }: Answered['details']): Item[] {
  const message = text !== '' || toolCalls.length === 0 ? [{ type: 'message', text }] : [];
  const thought = reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning }];
  const calls = toolCalls.map(({ id, name, arguments: written }) => ({
    ...{ type: 'function_call', text: written, called: { call_id: id, name } },
  }));
  return [...thought, ...message, ...calls].map((item, at) => ({ ...item, id: `i_${at}` }) as Item);
}

function itemOf(item: Item, text: string, content: readonly object[] = [partOf(item, text)]) {
  const { id, type, called } = item;
  if (type === 'function_call') return { type, id, ...called, arguments: text };
  return { type, id, ...(type === 'message' ? { role: 'assistant' } : { summary: [] }), content };
}

const partOf = ({ type }: Pick<Item, 'type'>, text: string) => ({ type: TEXTS[type], text });

function eventsOfItem(
  whole: ReturnType<typeof itemOf>,
  output_index: number,
  pieces: (text: string) => readonly string[],
): { type: string; [field: string]: unknown }[] {
  const { type, id } = whole;
  const isCall = 'arguments' in whole;
  const text = isCall ? whole.arguments : ((whole.content[0] as { text: string }).text ?? '');
  const place = { item_id: id, output_index, ...(!isCall && { content_index: 0 }) };
  const part = (when: string, held: string) =>
    isCall ? [] : [{ type: `response.content_part.${when}`, ...place, part: partOf(whole, held) }];
  const begun = isCall ? { ...whole, arguments: '' } : { ...whole, content: [] };
  const of = `response.${TEXTS[type]}`;
  return [
    { type: 'response.output_item.added', output_index, item: begun },
    ...part('added', ''),
    ...pieces(text).map((delta) => ({ type: `${of}.delta`, ...place, delta })),
    { type: `${of}.done`, ...place, ...(isCall ? { arguments: text } : { text }) },
    ...part('done', text),
    { type: 'response.output_item.done', output_index, item: whole },
  ];
}
