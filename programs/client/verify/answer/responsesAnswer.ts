import { toolCallsAsJson } from '../../statement.ts';
import { isNothing } from './answerParts.ts';
import { fieldOf, isObject } from './fields.ts';
import { SavedFileError } from './savedFile.ts';

type ItemType = 'message' | 'reasoning' | 'function_call';

/** Of an item of an answer, what clients show, act on, or find it by. */
interface Item {
  readonly type: ItemType;
  readonly id: string | null;
  /** The text, the reasoning, or the arguments. */
  readonly text: string;
  readonly callId?: string;
  readonly name?: string;
}

/** Of each type of item, the part before `.delta` and `.done` in the types of its events. */
const TEXTS = {
  message: 'output_text',
  reasoning: 'reasoning_text',
  function_call: 'function_call_arguments',
} as const;

/** Whether it is the type of an event of responses, which the event has as its name, too. */
export const isEventType = (type: unknown): type is string =>
  typeof type === 'string' && type.startsWith('response.');

const isWhole = (part: unknown): boolean => fieldOf(part, 'object') === 'response';

/** Whether it is an answer of responses, or an event of its stream other than `error`. */
export const isOfResponses = (part: unknown): boolean =>
  isWhole(part) || isEventType(fieldOf(part, 'type'));

/**
 * The parts of a saved answer of `POST /v1/responses` as those of a chat completion. It is the answer
 * itself, or its stream's events, of which the last one repeats the whole. Other parts stay as they are.
 *
 * @returns also whether it was of responses
 * @throws SavedFileError for what one client may read otherwise than another
 */
export function chatPartsOf(
  parts: readonly object[],
  isStream: boolean,
): { parts: readonly object[]; isTranslated: boolean } {
  if (!parts.some(isOfResponses)) return { parts, isTranslated: false };
  const isOther = (part: object) =>
    fieldOf(part, 'choices') != null || !(isOfResponses(part) || fieldOf(part, 'type') === 'error');
  if (parts.some(isOther)) throw new SavedFileError('It holds answers of two formats.');
  if (!parts.some(isWhole)) return { parts: chatPartsOfEvents(parts), isTranslated: true };
  if (isStream || parts.length > 1 || parts.some((part) => isEventType(fieldOf(part, 'type')))) {
    throw new SavedFileError('It holds several answers: save one.');
  }
  return { parts: parts.map(completionOf), isTranslated: true };
}

const ENDS: readonly unknown[] = ['response.completed', 'response.incomplete', 'response.failed'];

/** What an event says beside its `response` counts, too. */
function chatPartsOfEvents(events: readonly object[]): object[] {
  const at = events.findIndex((event) => ENDS.includes(fieldOf(event, 'type')));
  const wholes = events.map((event) => fieldOf(event, 'response'));
  if (at === -1) return [...events, ...wholes.map(aboutOf), { choices: [] }];
  const whole = wholes.at(at);
  const status = fieldOf(whole, 'status');
  const isNamed =
    typeof status === 'string' && fieldOf(events[at], 'type') === `response.${status}`;
  if (!isNamed || at < events.length - 1) throw differing();
  if (status !== 'failed') assertAlike(events.slice(0, at), itemsOf(whole));
  return [...events, ...wholes.slice(0, at).map(aboutOf), completionOf(whole)];
}

/** What an answer says beside its output, by the names of a chat completion. */
function aboutOf(response: unknown): object {
  const said = (field: string) => fieldOf(response, field);
  const usage = said('usage');
  return {
    ...{ id: said('id'), model: said('model'), svc: said('svc'), error: said('error') },
    usage: isObject(usage)
      ? {
          cost: usage.cost,
          prompt_tokens: usage.input_tokens,
          completion_tokens: usage.output_tokens,
        }
      : usage,
  };
}

/** A whole answer as the plain answer of a chat completion. One that failed has its error alone. */
function completionOf(response: unknown): object {
  if (fieldOf(response, 'status') === 'failed') return aboutOf(response);
  const items = itemsOf(response);
  const joined = (type: ItemType) =>
    items.flatMap((item) => (item.type === type ? [item.text] : [])).join('');
  const calls = items.flatMap(({ callId, name, text }) =>
    callId !== undefined && name !== undefined ? [{ id: callId, name, arguments: text }] : [],
  );
  const content = joined('message');
  // Some clients add it.
  if ((fieldOf(response, 'output_text') ?? content) !== content) throw differing();
  const tool_calls = toolCallsAsJson(calls);
  const message = { content, reasoning_content: joined('reasoning'), tool_calls };
  const finish_reason = finishReasonOf(response, calls.length > 0);
  return { ...aboutOf(response), choices: [{ index: 0, message, finish_reason }] };
}

/** Undefined where it has not ended. */
function finishReasonOf(response: unknown, hasCalls: boolean): string | undefined {
  const details = fieldOf(response, 'incomplete_details');
  const status = fieldOf(response, 'status');
  if (status === 'completed' && details == null) return hasCalls ? 'tool_calls' : 'stop';
  if (status !== 'incomplete') return undefined;
  const reason = fieldOf(details, 'reason');
  if (reason === 'max_output_tokens') return 'length';
  return reason === 'content_filter' ? reason : undefined;
}

function itemsOf(response: unknown): Item[] {
  const output = fieldOf(response, 'output') ?? [];
  if (!Array.isArray(output)) throw differing();
  return output.map(itemOf);
}

/** Clients show other items, and what stands beside a text: that is not proven. */
function itemOf(item: unknown): Item {
  const type = fieldOf(item, 'type');
  const id = fieldOf(item, 'id') ?? null;
  const unproven = [fieldOf(item, 'summary'), fieldOf(item, 'encrypted_content')];
  if ((typeof id !== 'string' && id !== null) || !unproven.every(isNothing)) throw differing();
  if (type === 'function_call' && isNothing(fieldOf(item, 'content'))) {
    const [callId, name] = [textIn(item, 'call_id'), textIn(item, 'name')];
    return { type, id, text: textIn(item, 'arguments'), callId, name };
  }
  if (type !== 'message' && type !== 'reasoning') throw differing();
  const content = fieldOf(item, 'content') ?? [];
  if (!Array.isArray(content) || content.length > 1) throw differing();
  return { type, id, text: content.map((part) => textOf(part, type)).join('') };
}

function textOf(part: unknown, type: ItemType): string {
  const unproven = [fieldOf(part, 'annotations'), fieldOf(part, 'logprobs')];
  if (fieldOf(part, 'type') !== TEXTS[type] || !unproven.every(isNothing)) throw differing();
  return textIn(part, 'text');
}

function textIn(value: unknown, field: string): string {
  const text = fieldOf(value, field);
  if (typeof text !== 'string') throw differing();
  return text;
}

const differing = () => new SavedFileError('Not all clients read its output alike.');

/** What an event says of its item. */
type Said = readonly [type: string, ...said: unknown[]];

const BEGINNINGS = ['response.created', 'response.in_progress'];
const ADDED = 'response.output_item.added';
/** Of two calls, an earlier one may go on behind the later. */
const CALL_DELTA = `response.${TEXTS.function_call}.delta`;

/**
 * Some clients read the pieces of a stream, others its items, or the whole at its end. So each item has
 * the events that the service sends of it, in their order, and they say the same.
 *
 * @param events without the last one
 * @throws SavedFileError where some differ
 */
function assertAlike(events: readonly object[], items: readonly Item[]): void {
  const isBegun = BEGINNINGS.every((type, at) => {
    const begun = fieldOf(events[at], 'response');
    const held = [fieldOf(begun, 'output'), fieldOf(begun, 'output_text')];
    return fieldOf(events[at], 'type') === type && held.every(isNothing);
  });
  if (!isBegun) throw differing();
  const found = items.map((): Said[] => []);
  const places = new Map<string, number>();
  for (const event of events.slice(BEGINNINGS.length)) {
    const type = textIn(event, 'type');
    const at = fieldOf(event, 'output_index');
    const item = typeof at === 'number' ? items[at] : undefined;
    if (typeof at !== 'number' || !item) throw differing();
    if ((fieldOf(event, 'content_index') ?? 0) !== 0) throw differing();
    // Calls stay open while texts go on, and then end behind these.
    const order = type === ADDED ? type : `${item.type} ${type}`;
    if (type !== CALL_DELTA && at < (places.get(order) ?? 0)) throw differing();
    places.set(order, at);
    addSaid(found[at] as Said[], saidBy(event, type, item));
  }
  if (items.some((item, at) => JSON.stringify(found[at]) !== JSON.stringify(saidOf(item)))) {
    throw differing();
  }
}

/** Joins pieces that follow each other; an empty one says nothing. */
function addSaid(all: Said[], said: Said): void {
  const [type, id, text] = said;
  const last = all.at(-1);
  const isDelta = type.endsWith('.delta');
  if (isDelta && last?.[0] === type && last[1] === id)
    all.splice(-1, 1, [type, id, `${last[2]}${text}`]);
  else if (!isDelta || text !== '') all.push(said);
}

function saidBy(event: object, type: string, item: Item): Said {
  if (type.startsWith('response.output_item.')) {
    return [type, ...Object.entries(itemOf(fieldOf(event, 'item')))];
  }
  const id = fieldOf(event, 'item_id') ?? null;
  if (type.startsWith('response.content_part.')) {
    return [type, id, textOf(fieldOf(event, 'part'), item.type)];
  }
  if (type.endsWith('.delta')) {
    if (type !== `response.${TEXTS[item.type]}.delta`) throw differing();
    return [type, id, textIn(event, 'delta')];
  }
  const text = textIn(event, item.type === 'function_call' ? 'arguments' : 'text');
  return [type, id, text, fieldOf(event, 'name') ?? item.name];
}

/** What the events of an item say in all. */
function saidOf(item: Item): Said[] {
  const { type, id, text, name } = item;
  const events = `response.${TEXTS[type]}`;
  const part = (when: string, held: string): Said[] =>
    type === 'function_call' ? [] : [[`response.content_part.${when}`, id, held]];
  const whole = (when: string, held: string): Said => [
    `response.output_item.${when}`,
    ...Object.entries({ ...item, text: held }),
  ];
  return [
    whole('added', ''),
    ...part('added', ''),
    ...(text === '' ? [] : [[`${events}.delta`, id, text] as const]),
    [`${events}.done`, id, text, name],
    ...part('done', text),
    whole('done', text),
  ];
}
