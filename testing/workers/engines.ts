import type { Engine } from '../../worker/engine/engine.ts';
import type { ChatRequest } from '../../worker/protocol/contracts.ts';

/** What is said, piece by piece; the answer is complete when it returns. */
type Script = (signal: AbortSignal) => AsyncIterable<string>;

/** An engine that says what the test tells it to. */
export interface ScriptedEngine extends Engine {
  /** For answers that begin from now on. */
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
      for await (const text of script(signal)) yield { type: 'text', text };
      yield { type: 'end', finishReason: 'stop' };
    },
  };
}

/**
 * Has answers that begin from now on say `Hello`, and ` again.` once they are let go on.
 *
 * @returns lets them go on
 */
export function playInTwoParts(engine: ScriptedEngine): () => void {
  const going = Promise.withResolvers<void>();
  engine.play(async function* () {
    yield 'Hello';
    await going.promise;
    yield ' again.';
  });
  return going.resolve;
}

/** An engine that reads the questions of the canary jobs and works their answers out. */
interface SolvingEngine extends Engine {
  /** What it was asked, in order. */
  chats: ChatRequest[];
  /** Keeps it from answering what it is asked from now on. @returns what lets it go on */
  hold(): () => void;
  /** Resolves when it is asked something that it has to keep. */
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
      yield { type: 'text', text: 'The answer is ' };
      yield { type: 'text', text: `${solve(chat.messages[0]?.content ?? '')}.` };
      yield { type: 'end', finishReason: 'stop' };
    },
  };
}

function solve(text: string): string {
  const [, ...list] = /(\w+), (\w+), (\w+)\./.exec(text.replace(/^Hello, /, '')) ?? [];
  if (list.length > 0) return list.reverse().join(', ');
  const [one, other] = [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  return String((one ?? 0) + (other ?? 0));
}
