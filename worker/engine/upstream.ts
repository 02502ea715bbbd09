import { HEALTH_TIMEOUT_MS } from '../../common/workerProtocol.ts';
import type { ChatRequest } from '../protocol/contracts.ts';
import { WorkerError } from '../protocol/errors.ts';
import { createStopScanner, type Engine, type FinishReason, type Usage } from './engine.ts';
import { readFinishReason } from './finishReasons.ts';
import { parseUpstreamChunk, type UpstreamChunk } from './upstreamChunk.ts';
import { asUpstreamFailure, asUpstreamRefusal, asUpstreamStatus } from './upstreamErrors.ts';
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

/** For what matters little: the usage after the finish chunk, the body of an error. */
const REST_WAIT_MS = 2_000;

/**
 * An engine on any server of chat completions. Stop sequences that the server sends are cut here. One
 * that goes on after them has ignored them: then the connection is closed, and its usage, which counts
 * more than was delivered, is not taken.
 *
 * @param upstream.models the upstream's own name for each model id
 * @param upstream.model its name for all others; by default the job's model id
 * @param upstream.restWaitMs how long the usage after the finish chunk and an error's body are waited for
 */
export function createUpstreamEngine(upstream: {
  url: string;
  model?: string | undefined;
  models?: ReadonlyMap<string, string> | undefined;
  key?: string | undefined;
  restWaitMs?: number;
}): Engine {
  const { restWaitMs = REST_WAIT_MS } = upstream;
  const url = chatCompletionsUrl(upstream.url);
  const authorization =
    upstream.key === undefined ? {} : { authorization: `Bearer ${upstream.key}` };

  async function request(chat: ChatRequest, tokenLimit: number, signal: AbortSignal) {
    const response = await fetch(url, {
      method: 'POST',
      // A redirect would send the prompt, and perhaps the key, to a server that was not configured,
      // so its status is an error like any other.
      redirect: 'manual',
      signal,
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...authorization,
      },
      body: JSON.stringify({
        ...chat,
        model: upstream.models?.get(chat.model) ?? upstream.model ?? chat.model,
        max_tokens: tokenLimit,
        stream: true,
        stream_options: { include_usage: true },
      }),
    });
    if (!response.ok) throw await asUpstreamRefusal(response, chat, restWaitMs);
    const type = response.headers.get('content-type')?.toLowerCase();
    if (!type?.startsWith('text/event-stream') || !response.body) {
      await response.body?.cancel();
      throw new WorkerError('upstream_failed', 'The upstream did not stream');
    }
    return readServerEvents(response.body);
  }

  return {
    kind: 'upstream',
    async check() {
      try {
        const response = await fetch(modelsUrl(upstream.url), {
          redirect: 'manual',
          signal: AbortSignal.timeout(CHECK_TIMEOUT_MS),
          headers: authorization,
        });
        await response.body?.cancel();
        // Some servers have no such list, and a busy one is there.
        const isAway = response.status >= 500 && response.status !== NOT_IMPLEMENTED;
        if (isAway || REFUSED_KEY_STATUSES.includes(response.status))
          throw asUpstreamStatus(response);
      } catch (error) {
        throw asUpstreamFailure(error);
      }
    },
    async *generate(chat, { tokenLimit, signal }) {
      const scanner = createStopScanner(chat.stop);
      const usageWait = new AbortController();
      let timer: NodeJS.Timeout | undefined;
      let finishReason: FinishReason | undefined;
      let usage: Usage | undefined;
      let hasText = false;
      let isCut = false;

      function finish(reason: FinishReason): void {
        finishReason = reason;
        timer = setTimeout(() => usageWait.abort(), restWaitMs);
      }

      try {
        const events = await request(chat, tokenLimit, AbortSignal.any([signal, usageWait.signal]));
        for await (const message of events) {
          if (isLife(message)) {
            if (finishReason === undefined) yield { type: 'alive' };
            continue;
          }
          if (isDone(message)) break;
          const chunk = parseUpstreamChunk(message.data, message.event);
          if (finishReason !== undefined) {
            usage = chunk?.usage ?? usage;
            if (chunk && isOver(chunk, finishReason, isCut)) continue;
            usage = undefined;
            break;
          }
          if (!chunk) {
            throw new WorkerError('upstream_failed', 'The upstream sent a malformed chunk');
          }
          usage = chunk.usage ?? usage;
          const { reasoning, finishWord } = chunk;
          if (reasoning !== '') yield { type: 'reasoning', text: reasoning };
          hasText ||= chunk.text !== '';
          const { text, isStopped, rest } = scanner.add(chunk.text);
          if (text !== '') yield { type: 'text', text };
          else if (
            chunk.isDelta &&
            chunk.text === '' &&
            reasoning === '' &&
            finishWord === undefined
          )
            yield { type: 'alive' };
          if (isStopped) {
            isCut = true;
            finish('stop');
            if (rest === '') continue;
            usage = undefined;
            break;
          }
          if (finishWord !== undefined) finish(readFinishReason(finishWord, hasText));
        }
      } catch (error) {
        if (finishReason === undefined) signal.throwIfAborted();
        // After the finish reason the text is complete, and a broken connection only loses the usage.
        if (finishReason === undefined || error instanceof WorkerError) {
          throw asUpstreamFailure(error);
        }
      } finally {
        clearTimeout(timer);
      }
      if (finishReason === undefined) {
        throw new WorkerError(
          'upstream_failed',
          'The upstream stopped in the middle of its answer',
        );
      }
      const rest = scanner.flush();
      if (rest !== '') yield { type: 'text', text: rest };
      yield { type: 'end', finishReason, ...(usage && { usage }) };
    },
  };
}

/**
 * Whether what follows an end leaves the answer as it is. A server that goes on after a stop sequence
 * has ignored it, which costs its usage alone.
 *
 * @throws WorkerError `upstream_failed` where text, reasoning or another end follows: the end was none
 */
function isOver(
  { text, reasoning, finishWord }: UpstreamChunk,
  finishReason: FinishReason,
  isCut: boolean,
): boolean {
  const goesOn = text !== '' || reasoning !== '';
  if (isCut) return !goesOn;
  if (goesOn) throw new WorkerError('upstream_failed', 'The upstream went on after its end');
  if (finishWord === undefined || readFinishReason(finishWord, true) === finishReason) return true;
  throw new WorkerError('upstream_failed', 'The upstream gave two ends');
}
