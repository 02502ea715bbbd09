import type { ResponseEvent, ResponseItem } from '../contracts/responsesAnswer.ts';
import type { Piece } from '../workers/events.ts';

/** An event without what the stream adds. */
export type ItemEvent = Omit<ResponseEvent, 'sequence_number'>;

/** An item while it is written. */
interface Written {
  kind: 'message' | 'reasoning' | 'function_call';
  id: string;
  /** The text, the reasoning, or the arguments. */
  pieces: string[];
  called: { call_id: string; name: string };
  status: ResponseItem['status'];
}

const KINDS = { content: 'message', reasoning: 'reasoning', call: 'function_call' } as const;
const PREFIXES = { message: 'msg', reasoning: 'rs', function_call: 'fc' } as const;
const TEXTS = {
  message: 'output_text',
  reasoning: 'reasoning_text',
  function_call: 'function_call_arguments',
} as const;

/**
 * With so many items, text and reasoning go on in the last that each has. A worker could begin another one
 * with each character, and fill our memory and its client's.
 */
const ITEMS_MAX = 128;

/**
 * The output of a response while it is written, and its events. Text and reasoning are
 * an item until the other comes. The items of calls stay open to the end, since an earlier call may go
 * on behind a later one.
 *
 * @param jobId which the ids of the items have, each with its place
 */
export function createResponseItems(jobId: string) {
  const items: Written[] = [];
  /** The places of open texts and reasoning, and of each call. */
  const texts = new Map<Written['kind'], number>();
  let calls: number[] = [];

  function* add(kind: Written['kind'], called = { call_id: '', name: '' }): Generator<ItemEvent> {
    const id = `${PREFIXES[kind]}_${jobId.replace(/^job_/, '')}_${items.length}`;
    const item: Written = { kind, id, pieces: [], called, status: 'in_progress' };
    const at = items.push(item) - 1;
    yield { type: 'response.output_item.added', output_index: at, item: itemOf(item, true) };
    const part = partOf(item);
    if (part) yield { type: 'response.content_part.added', ...placeOf(item, at), part };
    if (kind === 'function_call') calls.push(at);
    else texts.set(kind, at);
  }

  function* continued(at: number, delta: string): Generator<ItemEvent> {
    const item = items[at] as Written;
    item.pieces.push(delta);
    const type = `response.${TEXTS[item.kind]}.delta` as const;
    yield { type, ...placeOf(item, at), delta, ...(item.kind === 'message' && { logprobs: [] }) };
  }

  function* close(at: number, status: Written['status'] = 'completed'): Generator<ItemEvent> {
    const item = items[at] as Written;
    item.status = status;
    const whole = item.pieces.join('');
    const said =
      item.kind === 'function_call'
        ? { arguments: whole, name: item.called.name }
        : { text: whole };
    yield {
      type: `response.${TEXTS[item.kind]}.done`,
      ...placeOf(item, at),
      ...said,
      ...(item.kind === 'message' && { logprobs: [] }),
    };
    const part = partOf(item);
    if (part) yield { type: 'response.content_part.done', ...placeOf(item, at), part };
    yield { type: 'response.output_item.done', output_index: at, item: itemOf(item) };
  }

  function* closeTexts(): Generator<ItemEvent> {
    if (items.length >= ITEMS_MAX) return;
    for (const at of texts.values()) yield* close(at);
    texts.clear();
  }

  return {
    *write(piece: Piece): Generator<ItemEvent> {
      const kind = KINDS[piece.type];
      if (piece.type === 'call') {
        const { index, id = '', name = '' } = piece;
        if (calls[index] === undefined) {
          yield* closeTexts();
          yield* add(kind, { call_id: id, name });
        }
        if (piece.text) yield* continued(calls[index] as number, piece.text);
        return;
      }
      if (!texts.has(kind)) {
        yield* closeTexts();
        yield* add(kind);
      }
      yield* continued(texts.get(kind) as number, piece.text);
    },
    /** Closes what is open; of a cut answer the last item is not whole. */
    *finish(isCut: boolean): Generator<ItemEvent> {
      if (items.every(({ kind }) => kind === 'reasoning')) {
        yield* closeTexts();
        yield* add('message');
      }
      const open = [...calls, ...texts.values()].sort((one, other) => one - other);
      for (const at of open) {
        yield* close(at, isCut && at === items.length - 1 ? 'incomplete' : 'completed');
      }
    },
    /** As far as they are written. */
    output: (): ResponseItem[] => items.map((item) => itemOf(item)),
    forget(): void {
      items.length = 0;
      texts.clear();
      calls = [];
    },
  };
}

const placeOf = ({ kind, id }: Written, at: number) => ({
  ...{ item_id: id, output_index: at },
  ...(kind !== 'function_call' && { content_index: 0 }),
});

/** The one part of a text or of reasoning. */
function partOf({ kind, pieces }: Written) {
  const text = pieces.join('');
  if (kind === 'message') {
    return { type: 'output_text' as const, text, annotations: [], logprobs: [] };
  }
  return kind === 'reasoning' ? { type: 'reasoning_text' as const, text } : undefined;
}

/** @param isNew whether its part, or its arguments, come later */
function itemOf(item: Written, isNew = false): ResponseItem {
  const { kind, id, status, pieces, called } = item;
  if (kind === 'function_call') {
    return { type: kind, id, status, ...called, arguments: pieces.join('') };
  }
  const part = partOf(item);
  const content = isNew || !part ? [] : [part];
  const head = { id, status, content };
  return (
    kind === 'message'
      ? { type: kind, role: 'assistant', ...head }
      : { type: kind, summary: [], ...head }
  ) as ResponseItem;
}
