import type { FinishReason, WorkerErrorCode } from '../../common/workerProtocol.ts';
import type { ToolCall } from '../../programs/client/statement.ts';
import type { WorkerChat } from '../workers/client.ts';
import type { CallPiece } from '../workers/events.ts';

/** Adds a piece to the calls of an answer. It is the next call's first piece, or one of an earlier. */
export function addToCalls(
  calls: ToolCall[],
  { index, id = '', name = '', text }: CallPiece,
): void {
  const call = calls[index];
  calls[index] = call
    ? { ...call, arguments: call.arguments + text }
    : { id, name, arguments: text };
}

/** A worker's code where a model called none of the tools, or none although it had to. */
export const CALLED_AMISS: WorkerErrorCode = 'upstream_failed';

/** Whether a failure before the answer's first word can be a model's with the tools of its request. */
export function mayBeOfTools(code: string, { tools }: Record<string, unknown>): boolean {
  return code === CALLED_AMISS && tools !== undefined;
}

/** What a call is counted by. */
export const countedOf = ({ name, arguments: written }: ToolCall): string => name + written;

/** The names that a worker's answer may call, and whether it has to. */
interface Offer {
  names: ReadonlySet<string>;
  isForced: boolean;
}

/** @param chat as `chatForWorker` makes it */
function offerOf({ tools, tool_choice: choice }: WorkerChat): Offer {
  const { function: chosen } = (choice ?? {}) as { function?: { name: string } };
  if (chosen) return { names: new Set([chosen.name]), isForced: true };
  const offered = (choice === 'none' ? [] : (tools ?? [])) as { function: { name: string } }[];
  const names = new Set(offered.map((tool) => tool.function.name));
  return { names, isForced: choice === 'required' };
}

/** The calls of an answer while it is written, held against what its request offers. */
export function createOfferedCalls(chat: WorkerChat) {
  const { names, isForced } = offerOf(chat);
  const calls: ToolCall[] = [];
  let characters = 0;
  return {
    calls: calls as readonly ToolCall[],
    /** Of all names and arguments, in UTF-16 code units. */
    characters: (): number => characters,
    /** Takes the next piece. @returns what is wrong with it; undefined where nothing is */
    take(piece: CallPiece): string | undefined {
      const { index, id, name, text } = piece;
      if (index > calls.length) return 'a call before its turn';
      const isFirst = index === calls.length;
      if (isFirst !== Boolean(id) || isFirst !== Boolean(name)) return 'a call named amiss';
      if (name && !names.has(name)) return 'a call of no offered tool';
      characters += (name?.length ?? 0) + text.length;
      addToCalls(calls, piece);
      return undefined;
    },
    /** What is wrong with how the answer ends; undefined where nothing is. */
    faultOfEnd(reason: FinishReason): string | undefined {
      const isWhole = reason === 'stop' || reason === 'tool_calls';
      if (isWhole && (reason === 'tool_calls') !== calls.length > 0) return 'another finish reason';
      return isWhole && isForced && calls.length === 0 ? 'no call' : undefined;
    },
  };
}
