import { z } from 'zod';
import type { Usage } from './engine.ts';
import { ERROR_NAME } from './upstreamEvents.ts';

/** What one event of an upstream says about the answer. */
export interface UpstreamChunk {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: RawCalls;
  /** Whether it is about the answer, not its usage alone. */
  readonly isDelta: boolean;
  /** The server's own word; undefined where it gives none. */
  readonly finishWord: string | undefined;
  readonly usage: Usage | undefined;
}

/** Calls of tools, or parts of them, as the server has them. */
export interface RawCalls {
  readonly entries: readonly unknown[];
  /** Whether they are of a whole message, which repeats what came before. */
  readonly isWhole: boolean;
}

/** The parts of a chunk that matter here; upstreams differ in everything else. */
const upstreamChunk = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        delta: z.looseObject({}).nullish(),
        // Some servers stream whole messages.
        message: z.looseObject({}).nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
});

/** The first one counts: some servers repeat one text in several fields. */
const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'thinking', 'reasoning_details'];

/**
 * @param event the event's own name, if it has one
 * @returns `error` for an error in its place, undefined for what is neither
 */
export function parseUpstreamChunk(
  data: string,
  event?: string,
): UpstreamChunk | 'error' | undefined {
  const { data: chunk } = upstreamChunk.safeParse(parseUpstreamJson(data));
  if (event === ERROR_NAME || (chunk && isError(chunk))) return 'error';
  if (!chunk) return undefined;
  // One answer was requested, so further choices are ignored.
  const choice = chunk.choices?.find(({ index }) => Number(index ?? 0) === 0);
  if (choice?.error) return 'error';
  const { content, ...delta } = choice?.delta ?? choice?.message ?? {};
  const written = readContent(content);
  if (!written) return undefined;
  const reasoning = REASONING_FIELDS.map((field) => readReasoning(delta[field])).find(Boolean);
  return {
    text: written.text,
    reasoning: written.reasoning || (reasoning ?? ''),
    calls: readCalls(choice),
    isDelta: (choice?.delta ?? choice?.message) != null,
    finishWord: choice?.finish_reason?.trim() || undefined,
    usage: [chunk, asRecord(chunk.x_groq), choice].map(usageOf).find(Boolean),
  };
}

/** Those of the delta, or else of the message. Older servers send one call that is in no list. */
function readCalls(choice: Record<string, unknown> | undefined): RawCalls {
  const [ofDelta, ofMessage] = [choice?.delta, choice?.message].map((owner) => {
    const { tool_calls, function_call } = asRecord(owner);
    return [tool_calls ?? function_call ?? []].flat();
  });
  const isWhole = !ofDelta?.length;
  return { entries: (isWhole ? ofMessage : ofDelta) ?? [], isWhole };
}

/** Whether it is an error by its name, by its object, or by a message in place of an answer. */
function isError({ object, type, error, choices, message, detail }: Record<string, unknown>) {
  const isNamed = [object, type].includes(ERROR_NAME);
  return isNamed || Boolean(error) || (choices == null && (message ?? detail) != null);
}

/** A text, or a list of parts of which some are text and some reasoning. @returns undefined for neither */
function readContent(content: unknown): { text: string; reasoning: string } | undefined {
  if (content == null) return { text: '', reasoning: '' };
  if (typeof content === 'string') return { text: content, reasoning: '' };
  if (!Array.isArray(content)) return undefined;
  const ofType = (...types: unknown[]) => content.filter((part) => types.includes(typeOf(part)));
  return {
    text: ofType('text', 'output_text').map(readText).join(''),
    reasoning: ofType('thinking', 'reasoning').map(readReasoning).join(''),
  };
}

/** A string among parts is text. */
function typeOf(part: unknown): unknown {
  return typeof part === 'string' ? 'text' : asRecord(part).type;
}

function readText(part: unknown): string {
  const text = typeof part === 'string' ? part : asRecord(part).text;
  return typeof text === 'string' ? text : '';
}

/** Reasoning in any of its forms: a text, an object that has one, or a list of these. */
function readReasoning(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(readReasoning).join('');
  const { text, thinking, content, summary } = asRecord(value);
  const inner = [text, thinking, content, summary].find((each) => each != null);
  return inner === undefined ? '' : readReasoning(inner);
}

/** @returns undefined where no count can be read */
function usageOf(owner: Record<string, unknown> | undefined): Usage | undefined {
  const usage = asRecord(owner?.usage);
  const counts = {
    promptTokens: readCount(usage.prompt_tokens),
    completionTokens: readCount(usage.completion_tokens),
    reasoningTokens:
      readCount(asRecord(usage.completion_tokens_details).reasoning_tokens) ??
      // SGLang has it here.
      readCount(usage.reasoning_tokens),
  };
  return Object.values(counts).every((count) => count === undefined) ? undefined : counts;
}

function readCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : undefined;
}

export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** The object that a text of JSON holds, also as the first of a list; undefined for any other text. */
export function parseUpstreamJson(data: string): Record<string, unknown> | undefined {
  try {
    const [first] = [JSON.parse(data)].flat();
    return typeof first === 'object' && first !== null ? first : undefined;
  } catch {
    // The engine's own message would quote the answer.
    return undefined;
  }
}
