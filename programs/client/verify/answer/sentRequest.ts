import { canonicalJson, type Json } from '../../proof.ts';
import type { toolCallsAsJson } from '../../statement.ts';
import { fieldOf, isOff, onlyGiven, unlessEmpty, withoutPrototype } from './fields.ts';
import { REQUEST_FIELDS } from './requestFields.ts';
import { chatRequestOf, isResponsesRequest } from './responsesRequest.ts';
import { NO_REQUEST, refusalOf, SavedFileError } from './savedFile.ts';
import { callFieldsOf, toolFieldsOf } from './sentTools.ts';
import { BYTES_MAX, decode, partHeaders, tryParse } from './text.ts';

/** What was asked. */
export interface SentRequest {
  readonly chat: SentChat;
  /** The most tokens that it wants, where it says that. */
  readonly tokensMax: number | undefined;
  /** The most credits that it may lock, where it says that. */
  readonly creditsMax: number | undefined;
  /** Its own fields that are not known here: a later service may give them to a worker. */
  readonly others: Readonly<Record<string, Json>>;
  /** The names of all such fields, those of messages among them. */
  readonly unknown: readonly string[];
}

/** What a worker is given of a request, without the token limit, which the lock has. */
export interface SentChat {
  readonly [field: string]: Json | undefined;
  readonly model: string;
  readonly messages: readonly SentMessage[];
}

interface SentMessage {
  readonly [field: string]: Json | undefined;
  readonly role: string;
  readonly content: string;
  /** Of an assistant. */
  readonly tool_calls?: ReturnType<typeof toolCallsAsJson>;
  /** Of a tool. */
  readonly tool_call_id?: string;
}

/**
 * Reads the body of a request to `POST /v1/chat/completions` or `/v1/responses` as it was sent, and
 * keeps what a worker is given. `developer` is read as `system`, parts of a text are joined, and what
 * only concerns the service is dropped. So is what is said of tools where there are none. The order of
 * fields and white space between them do not matter.
 *
 * @param saved JSON in UTF-8, or UTF-16 with its mark
 * @throws SavedFileError for what is no such body, or has no canonical form
 */
export function readRequest(saved: Uint8Array | string, bytesMax = BYTES_MAX): SentRequest {
  const sent = tryParse(partHeaders(decode(saved, bytesMax)).body)?.value;
  const read = isResponsesRequest(sent) ? chatRequestOf(sent) : sent;
  const messages = fieldOf(read, 'messages');
  const model = fieldOf(read, 'model');
  if (!Array.isArray(messages) || typeof model !== 'string') throw new SavedFileError(NO_REQUEST);
  const body = read as Record<string, unknown>;
  assertTaken(body, messages);
  const chat: SentChat = {
    model,
    messages: messages.map(messageOf),
    ...pick(body, REQUEST_FIELDS.nullable, (value) => value ?? undefined),
    ...pick(body, REQUEST_FIELDS.emptyable, (value) => unlessEmpty(withoutPrototype(value))),
    ...pick(body, ['stop'], stopOf),
    ...pick(body, ['response_format'], formatOf),
    ...toolFieldsOf(body),
  };
  assertCanonical(chat);
  const { shaped, nullable, emptyable, left_out, off, message_fields } = REQUEST_FIELDS;
  const known = [shaped, nullable, emptyable, left_out, Object.keys(off)].flat();
  const others = otherFields(body, known);
  const ofMessages = messages.flatMap((one) => Object.keys(otherFields(one, message_fields)));
  return {
    chat,
    tokensMax: numberOf(body.max_tokens ?? body.max_completion_tokens),
    creditsMax: numberOf(body.max_credits),
    others,
    unknown: [...Object.keys(others), ...ofMessages.map((field) => `messages.${field}`)],
  };
}

/** What the service refuses was asked of another one. @throws SavedFileError that names it */
function assertTaken(body: Record<string, unknown>, messages: readonly unknown[]): void {
  const { max_tokens: most = null, max_completion_tokens: other = null } = body;
  const roles: readonly unknown[] = REQUEST_FIELDS.roles;
  const refused = Object.entries(REQUEST_FIELDS.off).find(
    ([field, off]) => !isOff(body[field], off),
  );
  const fault =
    refused?.[0] ??
    (most !== null && other !== null && !(typeof most === 'number' && most === other)
      ? 'max_completion_tokens'
      : undefined) ??
    (messages.every((one) => roles.includes(fieldOf(one, 'role'))) ? undefined : 'role');
  if (fault !== undefined) throw refusalOf(fault);
}

function otherFields(value: object, known: readonly string[]): SentRequest['others'] {
  const others = Object.keys(value).filter(
    (field) => field !== '__proto__' && !known.includes(field),
  );
  return onlyGiven(pick(value, others, (one) => unlessEmpty(withoutPrototype(one))));
}

const numberOf = (value: unknown) => (typeof value === 'number' ? value : undefined);

/** Whether it is meant to be a request, and no answer. */
export function isRequest(saved: Uint8Array | string): boolean {
  const parsed = tryParse(partHeaders(decode(saved, BYTES_MAX)).body);
  return fieldOf(parsed?.value, 'messages') !== undefined || isResponsesRequest(parsed?.value);
}

function messageOf(message: unknown): SentMessage {
  const role = fieldOf(message, 'role');
  const content = fieldOf(message, 'content') ?? fieldOf(message, 'refusal') ?? '';
  const texts = Array.isArray(content) ? content.map(textOfPart) : [content];
  // The service takes no other message, and readers would make different texts of it.
  if (typeof role !== 'string' || texts.some((text) => typeof text !== 'string')) {
    throw new SavedFileError(NO_REQUEST);
  }
  return {
    role: role === 'developer' ? 'system' : role,
    content: texts.join(''),
    ...callFieldsOf(message, role),
  };
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
  const format = unlessEmpty(withoutPrototype(value, 'json_schema', 'schema'));
  return fieldOf(format, 'type') === 'text' ? undefined : format;
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
