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

/** No answer came in time, or none in the right form: HTML, or an HTTP error. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
}

/** The node could not be connected to, or the connection broke; the cause says why. */
export class UnreachableError extends NoAnswerError {}

/** Reads a node's answer, checked as far as it is used. @throws TypeError for another form */

type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields;
  throw new TypeError('Expected an object');
}

export function listOf<Item>(value: unknown, read: (item: unknown) => Item): Item[] {
  if (Array.isArray(value)) return value.map(read);
  throw new TypeError('Expected a list');
}

export function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  throw new TypeError('Expected a number');
}

export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError('Expected a string');
}

/** An answer, and the slot of the state that it is about. */
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

/** A node's response over HTTP. */
export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** A node's answer. A proxy before the node may leave out any part. */
interface Answer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { code?: unknown; message?: unknown; data?: unknown } | null;
}

/** @returns undefined for null, and for text that is not JSON, as from a proxy before the node */
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
    throw new NoAnswerError(`The ledger's node answered ${method} without a result`);
  }
  return result;
}

/** The answers to several questions, by the questions' ids. Some may be missing. */
export function byId(answers: readonly unknown[]): Map<unknown, unknown> {
  return new Map(answers.map((answer) => [(answer as Answer | null)?.id, answer]));
}

/** Error codes of nodes that take no batches: invalid request, and request that cannot be parsed. */
const NOT_UNDERSTOOD_CODES = new Set<unknown>([-32600, -32601, -32602, -32700]);
/** HTTP statuses with which a proxy before a node refuses the form of a request. */
const NOT_UNDERSTOOD_STATUSES = new Set([400, 405, 413, 415, 422]);

/**
 * Whether a node refuses several questions in one request, as some providers do: in words, or by an
 * answer that is not a list. A rate limit is no such refusal.
 */
export function refusesBatches({ status, text }: Reply, answer: unknown): boolean {
  if (Array.isArray(answer)) return false;
  const { error } = (answer ?? {}) as Answer;
  if (error && /batch/i.test(String(error.message))) return true;
  if (error?.code !== undefined) return NOT_UNDERSTOOD_CODES.has(error.code);
  if (status >= 400 && status < 500 && /batch/i.test(text)) return true;
  return NOT_UNDERSTOOD_STATUSES.has(status);
}
