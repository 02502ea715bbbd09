import { createDeltaData, eventData } from '../../common/format.ts';
import { type ToolCall, toolCallsAsJson } from '../../programs/client/statement.ts';
import type { ChatCompletion, ChatCompletionChunk } from '../contracts/completionAnswer.ts';
import { addToCalls, type CallPiece, type Piece } from '../workers/events.ts';
import type { AnswerBody, AnswerEvents, AnswerFormat, AnswerIdentity } from './delivery.ts';

/** @param includeUsage whether a stream ends with a chunk that states its usage */
export function createChatFormat({ includeUsage }: { includeUsage: boolean }): AnswerFormat {
  return {
    plain: createCompletion,
    stream: (identity) => createChunks(identity, includeUsage),
    errorOf: (error) => error,
  };
}

function createCompletion({ jobId, modelId, created }: AnswerIdentity): AnswerBody {
  const parts: Record<Exclude<Piece['type'], 'call'>, string[]> = { content: [], reasoning: [] };
  const calls: ToolCall[] = [];
  return {
    write(piece) {
      if (piece.type === 'call') addToCalls(calls, piece);
      else parts[piece.type].push(piece.text);
    },
    discard() {
      calls.length = 0;
      parts.content.length = 0;
      parts.reasoning.length = 0;
    },
    bodyOf({ finishReason, usage }, svc): ChatCompletion {
      const reasoning_content = parts.reasoning.join('');
      const message = {
        role: 'assistant' as const,
        content: calls.length > 0 ? parts.content.join('') || null : parts.content.join(''),
        ...(reasoning_content && { reasoning_content }),
        ...(calls.length > 0 && { tool_calls: toolCallsAsJson(calls) }),
      };
      return {
        id: `chatcmpl-${jobId}`,
        object: 'chat.completion',
        created,
        model: modelId,
        choices: [{ index: 0, message, finish_reason: finishReason }],
        usage,
        svc,
      };
    },
  };
}

const eventOf = (data: string): string => `data: ${data}\n\n`;

/** A call's first delta names it, without arguments. */
function* deltasOf({ index, id, name, text }: CallPiece) {
  if (id !== undefined && name !== undefined) {
    yield { index, id, type: 'function' as const, function: { name, arguments: '' } };
  }
  if (text) yield { index, function: { arguments: text } };
}

function createChunks(
  { jobId, modelId, created }: AnswerIdentity,
  includeUsage: boolean,
): AnswerEvents {
  const head = {
    id: `chatcmpl-${jobId}`,
    object: 'chat.completion.chunk',
    created,
    model: modelId,
  } as const;
  const deltaData = createDeltaData(head);
  const deltaEvent = (delta: ChatCompletionChunk['choices'][number]['delta']): string =>
    eventOf(deltaData(delta));
  const chunkEvent = (body: Pick<ChatCompletionChunk, 'choices' | 'usage' | 'svc'>): string =>
    eventOf(eventData({ ...head, ...body } satisfies ChatCompletionChunk));
  return {
    begin: () => deltaEvent({ role: 'assistant', content: '' }),
    write(piece) {
      const { type, text } = piece;
      if (type !== 'call') {
        return deltaEvent(type === 'content' ? { content: text } : { reasoning_content: text });
      }
      return [...deltasOf(piece)].map((delta) => deltaEvent({ tool_calls: [delta] })).join('');
    },
    finish({ finishReason, usage }, svc) {
      const choices = [{ index: 0, delta: {}, finish_reason: finishReason }];
      return (
        chunkEvent({ choices, svc }) + (includeUsage ? chunkEvent({ choices: [], usage }) : '')
      );
    },
    fail: (error) => eventOf(eventData(error)),
  };
}
