import type { ToolCall } from '../../programs/client/statement.ts';
import type { ChatRequest } from '../protocol/contracts.ts';
import { WorkerError } from '../protocol/errors.ts';
import { splitFirstHalfOff } from './characters.ts';

/** An id goes out in one event, whose length readers bound. */
const ID_CHARACTERS_MAX = 16_384;

/**
 * The calls of one answer, as its client gets them. Each names a tool that was asked, and the answer keeps
 * a forced choice.
 */
export function createAnswerCalls({ tools = [], tool_choice: choice }: ChatRequest) {
  const chosen = typeof choice === 'object' ? choice.function.name : undefined;
  const names = tools.map((tool) => tool.function.name);
  const calls: { id: string; name: string; arguments: string; held: string }[] = [];
  let deltas = 0;
  let characters = 0;

  return {
    get list(): readonly ToolCall[] {
      return calls.map(({ held: _, ...call }) => call);
    },
    /** Of all names and arguments, in UTF-16 code units. */
    get characters() {
      return characters;
    },
    /** Deltas of the engine; an engine sends at least one token in each. */
    get deltas() {
      return deltas;
    },
    /** Counts one delta of the engine. */
    count(): void {
      deltas += 1;
    },
    /** @returns the first delta of a call */
    begin({ index, id, name }: { index: number; id: string; name: string }) {
      if (!names.includes(name)) throw failed('The upstream called a tool that it was not given');
      if (chosen !== undefined && name !== chosen) throw failed('The upstream called another tool');
      if (id === '' || id.length > ID_CHARACTERS_MAX || !id.isWellFormed()) {
        throw failed('The upstream gave a call a malformed id');
      }
      calls[index] = { id, name, arguments: '', held: '' };
      characters += name.length;
      return { index, id, type: 'function', function: { name, arguments: '' } };
    },
    /** Adds arguments at whole characters. @returns the delta to send now, if there is any */
    add(index: number, text: string) {
      const call = calls[index];
      if (!call) throw failed('The upstream went on with a call that it had not begun');
      const [sent, held] = splitFirstHalfOff(call.held + text);
      call.held = held;
      if (!sent.isWellFormed()) throw failed('The upstream called a tool with half of a character');
      characters += text.length;
      call.arguments += sent;
      return sent === '' ? undefined : { index, function: { arguments: sent } };
    },
    /**
     * Checks a whole answer; one that was cut off may lack what was to come.
     *
     * @throws WorkerError `upstream_failed`
     */
    requireWhole(): void {
      if (calls.some(({ held }) => held !== '')) {
        throw failed('The upstream called a tool with half of a character');
      }
      if (calls.length === 0 && (choice === 'required' || chosen !== undefined)) {
        throw failed('The upstream called no tool, though it had to');
      }
    },
  };
}

function failed(message: string): WorkerError {
  return new WorkerError('upstream_failed', message);
}
