import { within } from '../../common/wait.ts';
import type { Engine, EngineEvent } from '../../worker/engine/engine.ts';
import type { ChatRequest } from '../../worker/protocol/contracts.ts';

/** Yields an answer in pieces, and signs of life; the answer is complete when it returns. */
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
      for await (const piece of script(signal)) {
        yield typeof piece === 'string' ? { type: 'text', text: piece } : piece;
      }
      yield { type: 'end', finishReason: 'stop' };
    },
  };
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
      const [, name] =
        /"properties":{"(\w+)":/.exec(JSON.stringify(chat.response_format) ?? '') ?? [];
      if (name) yield { type: 'text', text: JSON.stringify({ [name]: solution }) };
      else yield { type: 'text', text: 'The answer is ' };
      if (!name) yield { type: 'text', text: `${[solution].flat().join(', ')}.` };
      yield { type: 'end', finishReason: 'stop' };
    },
  };
}

function solve(text: string): number | string[] {
  const [, ...list] = /(\w+), (\w+), (\w+)\./.exec(text.replace(/^Hello, /, '')) ?? [];
  if (list.length > 0) return list.reverse();
  const [one, other] = [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  return (one ?? 0) + (other ?? 0);
}
