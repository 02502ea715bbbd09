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

/** Carries one request to a node. Rejects when no answer comes, or when the signal aborts. */
export type Post = (body: string, signal: AbortSignal) => Promise<Reply>;

/** A ledger's node that can be asked over JSON-RPC: all that reading needs. */
export interface LedgerNode {
  /**
   * @param read takes the result's form and throws where it has another
   * @throws RpcError when the node refuses the question
   * @throws NoAnswerError when no answer comes in time, or one of another form
   */
  ask<Result>(
    method: string,
    parameters: readonly unknown[],
    read: (result: unknown) => Result,
  ): Promise<Result>;
}

/** The client of a ledger's node; questions that wait together share a request. */
export interface Rpc extends LedgerNode {
  /**
   * Calls `ask` just before the next request that is no sending, so that its question shares that
   * request; after `withinMs` at the latest.
   *
   * @returns cancels it
   */
  piggyback(ask: () => void, withinMs: number): () => void;
}

interface Question {
  readonly id: number;
  readonly method: string;
  readonly parameters: readonly unknown[];
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** The request that carries it, once that is sent. */
  request?: Request;
}

/** A request that was sent. */
interface Request {
  readonly abort: AbortController;
  /** Questions in it that are neither answered nor given up. */
  open: number;
}

/** Questions that may share a request. */
interface Lane {
  waiting: Question[];
  inFlight: number;
  isDue: boolean;
  linger: ReturnType<typeof setTimeout> | undefined;
}

export interface RpcOptions {
  /** Aborts when no answer is of use any more. Later questions are refused. */
  readonly ending?: AbortSignal | undefined;
  /** How long an answer may take: 10 s by default. */
  readonly timeoutMs?: number;
}

/** Longer than any healthy node takes to answer about a few accounts. */
const TIMEOUT_MS = 10_000;
/** Some nodes refuse more in one request, and the first answer would wait for the last. */
const BATCH_MAX = 50;
/** While so many requests are in flight, further questions wait for a shared one, but none for long. */
const SHARES_FROM = 2;
const LINGER_MS = 5;
/** Limits the requests that a silent node leaves open. */
const IN_FLIGHT_MAX = 32;
const ENDED = 'The client of the node was closed';

/** A client of the node at this address, by `fetch`, on Node and in browsers. */
export function connectRpc({ url, ...options }: RpcOptions & { url: string }): Rpc {
  // Node runs it behind all that this turn of the event loop asks; browsers have nothing like it.
  const later = globalThis.setImmediate as typeof setImmediate | undefined;
  return createRpc({ ...options, post: createPost(url), ...(later && { later }) });
}

/** Time limits are the client's own. */
function createPost(url: string): Post {
  const headers = { 'content-type': 'application/json' };
  return async (body, signal) => {
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    return { status: response.status, text: await response.text() };
  };
}

/**
 * Sending has requests of its own. Nodes answer a request as a whole, and checking a transaction
 * would delay quick reads.
 *
 * A node that refuses several questions at once is asked one by one from then on.
 *
 * @param options.later runs work at the end of this turn of the event loop; by default behind microtasks
 */
export function createRpc({
  post,
  later = soon,
  ending,
  timeoutMs = TIMEOUT_MS,
}: RpcOptions & { post: Post; later?: (work: () => void) => void }): Rpc {
  const createLane = (): Lane => ({ waiting: [], inFlight: 0, isDue: false, linger: undefined });
  const [reads, sends] = [createLane(), createLane()];
  const companions = new Set<() => void>();
  const open = new Set<Question>();
  let batchMax = BATCH_MAX;
  let asked = 0;

  /** Aborts the request once none of its questions is open. */
  function giveUp(question: Question, message: string): void {
    question.reject(new NoAnswerError(message));
    const { request } = question;
    if (request && --request.open === 0) request.abort.abort();
  }

  ending?.addEventListener('abort', () => {
    for (const question of open) giveUp(question, ENDED);
  });

  function pumpLater(lane: Lane): void {
    if (lane.isDue) return;
    lane.isDue = true;
    later(() => void pump(lane));
  }

  /** Sends the waiting questions, in as many requests as needed. */
  async function pump(lane: Lane): Promise<void> {
    clearTimeout(lane.linger);
    lane.linger = undefined;
    if (lane === reads && lane.waiting.length > 0) for (const ask of companions) ask();
    lane.waiting = lane.waiting.filter((question) => open.has(question));
    lane.isDue = false;
    if (lane.waiting.length === 0 || lane.inFlight >= IN_FLIGHT_MAX) return;
    const questions = lane.waiting.splice(0, batchMax);
    const request = { abort: new AbortController(), open: questions.length };
    for (const question of questions) question.request = request;
    lane.inFlight += 1;
    try {
      const reply = post(bodyOf(questions), request.abort.signal);
      if (lane.waiting.length > 0) void pump(lane);
      settle(lane, questions, await reply);
    } catch (cause) {
      const error = new UnreachableError("The ledger's node did not answer", { cause });
      for (const { reject } of questions) reject(error);
    } finally {
      lane.inFlight -= 1;
      if (lane.waiting.length > 0) pumpLater(lane);
    }
  }

  function settle(lane: Lane, questions: readonly Question[], reply: Reply): void {
    const answer = parse(reply.text);
    const isBatch = questions.length > 1;
    if (isBatch && refusesBatches(reply, answer)) {
      batchMax = 1;
      for (const question of questions) delete question.request;
      lane.waiting.unshift(...questions);
      return;
    }
    const answers = isBatch && Array.isArray(answer) ? byId(answer) : undefined;
    for (const { id, method, resolve, reject } of questions) {
      try {
        resolve(resultOf(method, reply.status, answers ? answers.get(id) : answer));
      } catch (error) {
        reject(error);
      }
    }
  }

  return {
    ask(method, parameters, read) {
      if (ending?.aborted) return Promise.reject(new NoAnswerError(ENDED));
      return new Promise((resolve, reject) => {
        const late = (): void =>
          giveUp(question, `The ledger's node did not answer ${method} within ${timeoutMs} ms`);
        const timer = setTimeout(late, timeoutMs);
        const close = (): void => {
          clearTimeout(timer);
          open.delete(question);
        };
        const question: Question = {
          id: ++asked,
          method,
          parameters,
          resolve(result) {
            const value = readAs(method, result, read);
            close();
            resolve(value);
          },
          reject(error) {
            close();
            reject(error);
          },
        };
        open.add(question);
        const lane = method === 'sendTransaction' ? sends : reads;
        lane.waiting.push(question);
        if (lane.inFlight < SHARES_FROM || batchMax === 1) pumpLater(lane);
        else lane.linger ??= setTimeout(() => pump(lane), LINGER_MS);
      });
    },
    piggyback(ask, withinMs) {
      const cancel = (): void => {
        clearTimeout(timer);
        companions.delete(once);
      };
      const once = (): void => {
        cancel();
        ask();
      };
      const timer = setTimeout(once, withinMs);
      companions.add(once);
      return cancel;
    },
  };
}

function soon(work: () => void): void {
  void Promise.resolve().then(work);
}

function bodyOf(questions: readonly Question[]): string {
  const texts = questions.map(({ id, method, parameters: params }) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params }),
  );
  return texts.length === 1 ? String(texts[0]) : `[${texts.join(',')}]`;
}

function readAs<Result>(method: string, result: unknown, read: (result: unknown) => Result) {
  try {
    return read(result);
  } catch (cause) {
    const message = `The ledger's node answered ${method} in another form`;
    throw new NoAnswerError(message, { cause });
  }
}

/** A node's response over HTTP. */
interface Reply {
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
function parse(text: string): unknown {
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
function resultOf(method: string, status: number, answer: unknown): unknown {
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
function byId(answers: readonly unknown[]): Map<unknown, unknown> {
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
function refusesBatches({ status, text }: Reply, answer: unknown): boolean {
  if (Array.isArray(answer)) return false;
  const { error } = (answer ?? {}) as Answer;
  if (error && /batch/i.test(String(error.message))) return true;
  if (error?.code !== undefined) return NOT_UNDERSTOOD_CODES.has(error.code);
  if (status >= 400 && status < 500 && /batch/i.test(text)) return true;
  return NOT_UNDERSTOOD_STATUSES.has(status);
}
