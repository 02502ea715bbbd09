import { canonicalJson, type Json } from '../../proof.ts';
import { fieldOf, isObject } from './answerParts.ts';
import { SavedFileError } from './savedFile.ts';
import { bodyOf, decode, tryParse } from './text.ts';

/** What was asked. */
export interface SentRequest {
  readonly chat: SentChat;
  /** The most tokens that it wants, where it says that. */
  readonly tokensMax: number | undefined;
  /** The most credits that it may lock, where it says that. */
  readonly creditsMax: number | undefined;
}

/** What a worker is given of a request, without the token limit, which the lock has. */
export interface SentChat {
  readonly [field: string]: Json | undefined;
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** Fields whose null means that they are absent. */
const NULLABLE = ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed'];
const SAMPLING = ['top_k', 'min_p', 'repetition_penalty', 'reasoning_effort'];
/** Of these an empty list or object means it, too. */
const EMPTYABLE = [...SAMPLING, 'logit_bias', 'chat_template_kwargs'];

/**
 * Reads the body of a request to `POST /v1/chat/completions` as it was sent, and keeps what a worker
 * is given. `developer` is read as `system`, parts of a text are joined, and what only concerns the
 * service is dropped. The order of fields and white space between them do not matter.
 *
 * @param saved JSON in UTF-8, or UTF-16 with its mark
 * @throws SavedFileError for what is no such body, or has no canonical form
 */
export function readRequest(saved: Uint8Array | string): SentRequest {
  const parsed = tryParse(bodyOf(decode(saved)));
  const messages = fieldOf(parsed?.value, 'messages');
  const model = fieldOf(parsed?.value, 'model');
  if (!Array.isArray(messages) || typeof model !== 'string') throw new SavedFileError(NO_REQUEST);
  const body = parsed?.value;
  const chat: SentChat = {
    model,
    messages: messages.map(messageOf),
    ...pick(body, NULLABLE, (value) => value ?? undefined),
    ...pick(body, EMPTYABLE, (value) => unlessEmpty(withoutPrototype(value))),
    ...pick(body, ['stop'], stopOf),
    ...pick(body, ['response_format'], formatOf),
  };
  assertCanonical(chat);
  const tokensMax = fieldOf(body, 'max_tokens') ?? fieldOf(body, 'max_completion_tokens');
  const creditsMax = fieldOf(body, 'max_credits');
  return { chat, tokensMax: numberOf(tokensMax), creditsMax: numberOf(creditsMax) };
}

const NO_REQUEST = 'It is no request: save the JSON body that was sent to /v1/chat/completions.';

const numberOf = (value: unknown) => (typeof value === 'number' ? value : undefined);

/** Whether it is meant to be a request, and no answer. */
export function isRequest(saved: Uint8Array | string): boolean {
  const parsed = tryParse(bodyOf(decode(saved)));
  return fieldOf(parsed?.value, 'messages') !== undefined;
}

function messageOf(message: unknown): SentChat['messages'][number] {
  const role = fieldOf(message, 'role');
  const content = fieldOf(message, 'content') ?? fieldOf(message, 'refusal') ?? '';
  const texts = Array.isArray(content) ? content.map(textOfPart) : [content];
  // The service takes no other message, and readers would make different texts of it.
  if (typeof role !== 'string' || texts.some((text) => typeof text !== 'string')) {
    throw new SavedFileError(NO_REQUEST);
  }
  return { role: role === 'developer' ? 'system' : role, content: texts.join('') };
}

/** The service refuses any other: a picture that is left out would seem to be proven. */
function textOfPart(part: unknown): string {
  const type = fieldOf(part, 'type');
  const text = type === 'text' || type === 'refusal' ? fieldOf(part, type) : undefined;
  if (typeof text !== 'string') throw new SavedFileError('It has a part that is no text.');
  return text;
}

function stopOf(stop: unknown): unknown {
  const list = typeof stop === 'string' ? [stop] : stop;
  return Array.isArray(list) && list.length > 0 ? list : undefined;
}

/** Text is the form of every answer. */
function formatOf(value: unknown): unknown {
  const format = unlessEmpty(withoutPrototype(value));
  if (!isObject(format)) return format;
  if (fieldOf(format, 'type') === 'text') return undefined;
  const schema = fieldOf(format, 'json_schema');
  if (!isObject(schema)) return format;
  const inner = withoutPrototype(schema) as object;
  const own = fieldOf(inner, 'schema');
  return {
    ...format,
    json_schema: isObject(own) ? { ...inner, schema: withoutPrototype(own) } : inner,
  };
}

/** The service drops a field of this name where it knows the object. */
function withoutPrototype(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([field]) => field !== '__proto__'));
}

function unlessEmpty(value: unknown): unknown {
  if (value === null) return undefined;
  return typeof value === 'object' && Object.keys(value).length === 0 ? undefined : value;
}

function pick(
  body: unknown,
  fields: readonly string[],
  read: (value: unknown) => unknown,
): Record<string, Json | undefined> {
  return Object.fromEntries(
    fields.map((field) => [field, read(fieldOf(body, field)) as Json | undefined]),
  );
}

function assertCanonical(chat: SentChat): void {
  try {
    canonicalJson(chat);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    throw new SavedFileError(`The request has no canonical form: ${reason}.`);
  }
}
