import type { Engine } from '../../worker/engine/engine.ts';

/** What is said, piece by piece; the answer is complete when it returns. */
export type Script = (signal: AbortSignal) => AsyncIterable<string>;

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
