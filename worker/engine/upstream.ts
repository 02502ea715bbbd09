import type { EventSourceMessage } from 'eventsource-parser';
import { type FinishReason, HEALTH_TIMEOUT_MS } from '../../common/workerProtocol.ts';
import type { ChatRequest } from '../protocol/contracts.ts';
import { WorkerError } from '../protocol/errors.ts';
import { createStopScanner, type Engine, type EngineEvent, type Usage } from './engine.ts';
import { readFinishReason } from './finishReasons.ts';
import { createCallReader } from './toolCalls.ts';
import { parseUpstreamChunk, type UpstreamChunk } from './upstreamChunk.ts';
import {
  asUpstreamError,
  asUpstreamFailure,
  asUpstreamRefusal,
  asUpstreamStatus,
} from './upstreamErrors.ts';
import { isDone, isLife, readServerEvents } from './upstreamEvents.ts';

/**
 * The URL for chat completions: `…/v1` (or any other base) gets `/chat/completions` appended, a bare
 * host `/v1/chat/completions`. A full URL stays unchanged.
 */
export function chatCompletionsUrl(base: string): string {
  const url = new URL(base);
  const path = url.pathname.replace(/\/+$/, '');
  if (!path.endsWith('/chat/completions')) url.pathname = `${path || '/v1'}/chat/completions`;
  return url.href;
}

/** The URL that lists the upstream's models: beside the one for chat completions. */
export function modelsUrl(base: string): string {
  const url = new URL(chatCompletionsUrl(base));
  url.pathname = url.pathname.replace(/\/chat\/completions$/, '/models');
  return url.href;
}

/** A health check waits for it, and has to answer before the gateway gives it up. */
const CHECK_TIMEOUT_MS = HEALTH_TIMEOUT_MS - 1_000;
const NOT_IMPLEMENTED = 501;
const REFUSED_KEY_STATUSES = [401, 403];

/** For the usage after the finish chunk, and for the body of an error. */
const REST_WAIT_MS = 2_000;

/** Where an engine gets its answers. */
interface Upstream {
  readonly url: string;
  /** Its name for all models that `models` does not name; by default the job's model id. */
  readonly model?: string | undefined;
  /** Its own name for each model id. */
  readonly models?: ReadonlyMap<string, string> | undefined;
  readonly key?: string | undefined;
  /** How long the engine waits for the usage after the finish chunk, and for an error's body. */
  readonly restWaitMs?: number;
}

/**
 * An engine on any server of chat completions. It cuts stop sequences that the server sends. A server
 * that goes on after them has ignored them. The engine then closes the connection and drops the usage,
 * which counts more than was delivered.
 */
export function createUpstreamEngine(upstream: Upstream): Engine {
  return {
    kind: 'upstream',
    check: () => checkUpstream(upstream),
    generate: (chat, limits) => generate(upstream, chat, limits),
  };
}

function authorizationOf({ key }: Upstream): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

async function checkUpstream(upstream: Upstream): Promise<void> {
  try {
    const response = await fetch(modelsUrl(upstream.url), {
      redirect: 'manual',
      signal: AbortSignal.timeout(CHECK_TIMEOUT_MS),
      headers: authorizationOf(upstream),
    });
    await response.body?.cancel();
    // Some servers have no such list, and a busy one is there.
    const isAway = response.status >= 500 && response.status !== NOT_IMPLEMENTED;
    if (isAway || REFUSED_KEY_STATUSES.includes(response.status)) throw asUpstreamStatus(response);
  } catch (error) {
    throw asUpstreamFailure(error);
  }
}

async function* generate(
  upstream: Upstream,
  chat: ChatRequest,
  { tokenLimit, signal }: { tokenLimit: number; signal: AbortSignal },
): AsyncGenerator<EngineEvent> {
  const { restWaitMs = REST_WAIT_MS } = upstream;
  const usageWait = new AbortController();
  const reader = createAnswerReader(chat);
  let timer: NodeJS.Timeout | undefined;
  try {
    const { messages, headers } = await request(upstream, {
      ...{ chat, tokenLimit, restWaitMs },
      signal: AbortSignal.any([signal, usageWait.signal]),
    });
    for await (const message of messages) {
      for (const event of reader.read(message, headers)) yield event;
      if (reader.isOver) break;
      if (reader.isFinished) timer ??= setTimeout(() => usageWait.abort(), restWaitMs);
    }
  } catch (error) {
    if (!reader.isFinished) signal.throwIfAborted();
    // After the finish reason the text is complete, and a broken connection only loses the usage.
    if (!reader.isFinished || error instanceof WorkerError) throw asUpstreamFailure(error);
  } finally {
    clearTimeout(timer);
  }
  yield* reader.end();
}

async function request(
  upstream: Upstream,
  options: { chat: ChatRequest; tokenLimit: number; restWaitMs: number; signal: AbortSignal },
) {
  const { chat, tokenLimit, restWaitMs, signal } = options;
  const response = await fetch(chatCompletionsUrl(upstream.url), {
    method: 'POST',
    // A redirect would send the prompt, and perhaps the key, to a server that was not configured.
    redirect: 'manual',
    signal,
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...authorizationOf(upstream),
    },
    body: JSON.stringify({
      ...chat,
      model: upstream.models?.get(chat.model) ?? upstream.model ?? chat.model,
      max_tokens: tokenLimit,
      stream: true,
      stream_options: { include_usage: true },
    }),
  });
  const type = response.headers.get('content-type')?.toLowerCase();
  const isStream = response.ok && type?.startsWith('text/event-stream');
  const { body, headers } = response;
  if (isStream && body) return { messages: readServerEvents(body), headers };
  throw await asUpstreamRefusal(response, chat, restWaitMs);
}

/** Reads the messages of one answer in their order. */
function createAnswerReader(chat: ChatRequest) {
  const scanner = createStopScanner(chat.stop);
  const calls = createCallReader(chat);
  let finishReason: FinishReason | undefined;
  let usage: Usage | undefined;
  let hasText = false;
  let hasReasoning = false;
  let isCut = false;
  let isOver = false;

  function* readDelta(
    { data, event }: EventSourceMessage,
    headers: Response['headers'],
  ): Generator<EngineEvent> {
    const chunk = parseUpstreamChunk(data, event);
    if (!chunk) throw failed('The upstream sent a malformed chunk');
    // Behind a part of the answer it is no refusal with any status: the answer is broken.
    if (chunk === 'error' && (hasText || hasReasoning || calls.hasCalls))
      throw failed('The upstream broke off');
    if (chunk === 'error') throw asUpstreamError(data, chat, headers);
    const { reasoning, finishWord } = chunk;
    usage = chunk.usage ?? usage;
    hasReasoning ||= reasoning !== '';
    if (reasoning !== '') yield { type: 'reasoning', text: reasoning };
    hasText ||= chunk.text !== '';
    const { text, isStopped, rest } = scanner.add(chunk.text);
    const written = isStopped ? [] : [...calls.read(chunk.calls)];
    if (text !== '') yield { type: 'text', text };
    else if (written.length === 0 && isEmptyDelta(chunk)) yield { type: 'alive' };
    yield* written;
    const { hasCalls } = calls;
    if (isStopped) {
      finishReason = readFinishReason('stop', { hasText, hasCalls });
      isCut = true;
      if (rest !== '') end();
    } else if (finishWord !== undefined) {
      finishReason = readFinishReason(finishWord, { hasText, hasCalls });
      if (finishReason === 'tool_calls' || finishReason === 'stop') calls.end();
    }
  }

  /**
   * Whether a chunk after the end leaves the answer as it is. A server that goes on after a stop
   * sequence has ignored it, and only loses its usage.
   *
   * @throws WorkerError `upstream_failed` where more of it, or another end, follows any other end
   */
  function leavesAnswer(chunk: UpstreamChunk): boolean {
    const { text, reasoning, finishWord } = chunk;
    const goesOn = text !== '' || reasoning !== '' || [...calls.read(chunk.calls)].length > 0;
    if (isCut) return !goesOn;
    if (goesOn) throw failed('The upstream went on after its end');
    const answer = { hasText: true, hasCalls: calls.hasCalls };
    if (finishWord === undefined || readFinishReason(finishWord, answer) === finishReason)
      return true;
    throw failed('The upstream gave two ends');
  }

  /** The usage would count more than was delivered. */
  function end(): void {
    usage = undefined;
    isOver = true;
  }

  return {
    /** Whether the text is complete; the usage may still come. */
    get isFinished() {
      return finishReason !== undefined;
    },
    /** Whether nothing that follows matters. */
    get isOver() {
      return isOver;
    },
    /** @param headers of the response that has it */
    *read(message: EventSourceMessage, headers: Response['headers']): Generator<EngineEvent> {
      if (isLife(message)) {
        if (finishReason === undefined) yield { type: 'alive' };
      } else if (isDone(message)) isOver = true;
      else if (finishReason === undefined) yield* readDelta(message, headers);
      else {
        const chunk = parseUpstreamChunk(message.data, message.event);
        if (chunk === 'error') throw failed('The upstream sent an error after its end');
        usage = chunk?.usage ?? usage;
        if (!chunk || !leavesAnswer(chunk)) end();
      }
    },
    /** @throws WorkerError `upstream_failed` where the answer is not complete */
    *end(): Generator<EngineEvent> {
      if (!finishReason) throw failed('The upstream stopped in the middle of its answer');
      const rest = scanner.flush();
      if (rest !== '') yield { type: 'text', text: rest };
      yield { type: 'end', finishReason, ...(usage && !calls.hasDropped && { usage }) };
    },
  };
}

function isEmptyDelta({ isDelta, text, reasoning, finishWord }: UpstreamChunk): boolean {
  return isDelta && text === '' && reasoning === '' && finishWord === undefined;
}

function failed(message: string): WorkerError {
  return new WorkerError('upstream_failed', message);
}
