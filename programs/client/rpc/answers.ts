/** A node answered a question with a refusal. */
export class RpcError extends Error {
  override name = 'RpcError';
  /** JSON-RPC's or the provider's number; undefined where the node gave none. */
  readonly code: number | undefined;
  /** What the node added, such as why a transaction was refused. */
  readonly data: unknown;

  constructor(message: string, options: { code: number | undefined; data: unknown }) {
    super(message);
    this.code = options.code;
    this.data = options.data;
  }
}

/** No answer came in time, or what came is none: a page of HTML, another form, an HTTP status. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
}

/** No connection to the node came about, or it broke; the cause says why. */
export class UnreachableError extends NoAnswerError {}

/** What a node's answer looks like, checked as far as it is used: a wrong form throws TypeError. */

type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields;
  throw new TypeError('No object');
}

export function listOf<Item>(value: unknown, read: (item: unknown) => Item): Item[] {
  if (Array.isArray(value)) return value.map(read);
  throw new TypeError('No list');
}

export function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  throw new TypeError('No number');
}

export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError('No text');
}

/** An answer with the slot of the state that it speaks of. */
export interface AtSlot<Value> {
  readonly slot: number;
  readonly value: Value;
}

export function atSlot<Value>(read: (value: unknown) => Value) {
  return (result: unknown): AtSlot<Value> => {
    const { context, value } = fieldsOf(result);
    return { slot: numberOf(fieldsOf(context).slot), value: read(value) };
  };
}

export function orNull<Value>(read: (value: unknown) => Value) {
  return (value: unknown): Value | null => (value === null ? null : read(value));
}

/** What came back over HTTP. */
export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** As much of an answer's form as whatever stands before a node may leave intact. */
interface Answer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { code?: unknown; message?: unknown; data?: unknown } | null;
}

/** @returns undefined for what is no JSON, as of a proxy that answers for the node, and for null */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * What a node answered to one question.
 *
 * @throws RpcError for a refusal, NoAnswerError for anything else that is no result
 */
export function resultOf(method: string, status: number, answer: unknown): unknown {
  const { error, result } = (answer ?? {}) as Answer;
  if (error) {
    const { code, message = 'no reason given', data } = error;
    throw new RpcError(
      `The ledger's node refused ${method}: ${message} (${code ?? `status ${status}`})`,
      { code: typeof code === 'number' ? code : undefined, data },
    );
  }
  if (status !== 200) {
    throw new NoAnswerError(`The ledger's node answered ${method} with status ${status}`);
  }
  if (result === undefined) {
    throw new NoAnswerError(`The ledger's node answered ${method} with something else`);
  }
  return result;
}

/** The answers to several questions by the ids of those; in any order, and some may be missing. */
export function byId(answers: readonly unknown[]): Map<unknown, unknown> {
  return new Map(answers.map((answer) => [(answer as Answer | null)?.id, answer]));
}

/** By which a node says that it understands no list: invalid request, and what cannot be parsed. */
const NOT_UNDERSTOOD_CODES = new Set<unknown>([-32600, -32601, -32602, -32700]);
/** HTTP statuses by which whatever stands before a node finds fault with the form of a request. */
const NOT_UNDERSTOOD_STATUSES = new Set([400, 405, 413, 415, 422]);

/**
 * Whether a node that was asked several questions at once refuses just that, as some providers do:
 * in words, or by an answer that is none to a list. Too many questions in a while are another matter.
 */
export function refusesBatches({ status, text }: Reply, answer: unknown): boolean {
  if (Array.isArray(answer)) return false;
  const { error } = (answer ?? {}) as Answer;
  if (error && /batch/i.test(String(error.message))) return true;
  if (error?.code !== undefined) return NOT_UNDERSTOOD_CODES.has(error.code);
  if (status >= 400 && status < 500 && /batch/i.test(text)) return true;
  return NOT_UNDERSTOOD_STATUSES.has(status);
}
