import { within } from '../../common/wait.ts';
import type { ToolCall } from '../../programs/client/statement.ts';
import type { Engine, EngineEvent } from '../../worker/engine/engine.ts';
import type { ChatRequest } from '../../worker/protocol/contracts.ts';

/** Yields an answer in pieces, with calls and signs of life; it is complete when this returns. */
type Script = (signal: AbortSignal) => AsyncIterable<string | EngineEvent>;

/** An engine with answers from the test. */
export interface ScriptedEngine extends Engine {
  /** Sets the script of answers that begin from now on. */
  play(script: Script): void;
}

export function createScriptedEngine(): ScriptedEngine {
  let script: Script = async function* () {
    yield 'Hello.';
  };
  return {
    kind: 'builtin',
    play(next) {
      script = next;
    },
    async *generate(_chat, { signal }) {
      let hasCalls = false;
      for await (const piece of script(signal)) {
        yield typeof piece === 'string' ? { type: 'text', text: piece } : piece;
        if (typeof piece !== 'string' && piece.type === 'end') return;
        hasCalls ||= typeof piece !== 'string' && piece.type === 'call';
      }
      yield { type: 'end', finishReason: hasCalls ? 'tool_calls' : 'stop' };
    },
  };
}

/** The pieces of these calls, in order: each begins, and its arguments come in pieces of some characters. */
export function* piecesOfCalls(calls: readonly ToolCall[], characters = 4): Generator<EngineEvent> {
  for (const [index, { id, name, arguments: text }] of calls.entries()) {
    yield { type: 'call', index, id, name, text: '' };
    for (let at = 0; at < text.length; at += characters) {
      yield { type: 'call', index, text: text.slice(at, at + characters) };
    }
  }
}

/** More often than an unfinished answer may be silent. */
const LIFE_MS = 1_000;

/**
 * Makes later answers send `Hello`, and ` again.` once they are released.
 *
 * @returns releases them
 */
export function answerInTwoParts(engine: ScriptedEngine): () => void {
  const going = Promise.withResolvers<true>();
  engine.play(async function* () {
    yield 'Hello';
    while (!(await within(LIFE_MS, going.promise))) yield { type: 'alive' };
    yield ' again.';
  });
  return () => going.resolve(true);
}

/** An engine that answers with another one, which the test changes. */
export interface SwitchedEngine extends Engine {
  use(engine: Engine): void;
}

export function createSwitchedEngine(first: Engine): SwitchedEngine {
  let engine = first;
  return {
    kind: first.kind,
    generate: (chat, limits) => engine.generate(chat, limits),
    use(next) {
      engine = next;
    },
  };
}

/** An engine that solves the questions of canary jobs. */
interface SolvingEngine extends Engine {
  /** The chats that it received, in order. */
  chats: ChatRequest[];
  /** Holds back later answers. @returns releases them */
  hold(): () => void;
  /** Resolves when an answer is held back. */
  untilHeld(): Promise<void>;
}

export function createSolvingEngine(): SolvingEngine {
  const chats: ChatRequest[] = [];
  let held = Promise.withResolvers<void>();
  let isHeld: Promise<void> | undefined;
  return {
    kind: 'builtin',
    chats,
    hold() {
      const holding = Promise.withResolvers<void>();
      isHeld = holding.promise;
      held = Promise.withResolvers();
      return () => {
        isHeld = undefined;
        holding.resolve();
      };
    },
    untilHeld: () => held.promise,
    async *generate(chat, { signal }) {
      chats.push(chat);
      if (isHeld) held.resolve();
      await isHeld;
      signal.throwIfAborted();
      const solution = solve(chat.messages[0]?.content ?? '');
      const chosen = toolToCall(chat);
      if (chosen) {
        yield* piecesOfCalls([{ id: 'call_solved', ...chosen(solution) }]);
        yield { type: 'end', finishReason: 'tool_calls' };
        return;
      }
      const [, name] =
        /"properties":{"(\w+)":/.exec(JSON.stringify(chat.response_format) ?? '') ?? [];
      if (name) yield { type: 'text', text: JSON.stringify({ [name]: solution }) };
      else yield { type: 'text', text: 'The answer is ' };
      if (!name) yield { type: 'text', text: `${[solution].flat().join(', ')}.` };
      yield { type: 'end', finishReason: 'stop' };
    },
  };
}

/** The first tool, or the one that was chosen: its call with a value as its first argument. */
function toolToCall({ tools = [], tool_choice: choice }: ChatRequest) {
  const chosen = typeof choice === 'object' ? choice.function.name : tools[0]?.function.name;
  const tool = tools.find((each) => each.function.name === chosen)?.function;
  if (!tool || choice === 'none') return undefined;
  const [argument = 'value'] = Object.keys(Object(tool.parameters?.properties));
  return (value: unknown) => ({
    name: tool.name,
    arguments: JSON.stringify({ [argument]: value }),
  });
}

function solve(text: string): number | string[] {
  const [, ...list] = /(\w+), (\w+), (\w+)\./.exec(text.replace(/^Hello, /, '')) ?? [];
  if (list.length > 0) return list.reverse();
  const [one, other] = [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  return (one ?? 0) + (other ?? 0);
}
