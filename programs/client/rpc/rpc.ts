import {
  byId,
  NoAnswerError,
  parse,
  type Reply,
  refusesBatches,
  resultOf,
  UnreachableError,
} from './answers.ts';

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
