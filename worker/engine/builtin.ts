import { randomUUID } from 'node:crypto';
import { createRandom } from '../../common/seededRandom.ts';
import { estimatePromptTokens } from '../../common/tokenizers/tokenCounts.ts';
import { delay } from '../../common/wait.ts';
import { compose } from './composition.ts';
import type { Engine, FinishReason } from './engine.ts';
import { createStopScanner } from './stopSequences.ts';

/**
 * A stand-in for a model, so that everything runs without one. Same conversation and seed, same
 * text; without a seed each answer differs. It honours the token limit and stop sequences.
 *
 * @param tokenDelayMs time each token takes, for trying out slow answers
 */
export function createBuiltinEngine({ tokenDelayMs }: { tokenDelayMs: number }): Engine {
  return {
    kind: 'builtin',
    async *generate(chat, { tokenLimit, signal }) {
      const random = createRandom(JSON.stringify([chat.seed ?? randomUUID(), chat.messages]));
      const scanner = createStopScanner(chat.stop);
      let finishReason: FinishReason = 'stop';
      let completionTokens = 0;
      for (const token of compose(chat, random)) {
        if (completionTokens === tokenLimit) {
          finishReason = 'length';
          break;
        }
        if (tokenDelayMs > 0) await delay(tokenDelayMs, signal);
        signal.throwIfAborted();
        completionTokens += 1;
        const { text, isStopped } = scanner.add(token);
        if (text !== '') yield { type: 'text', text };
        if (isStopped) break;
      }
      const rest = scanner.flush();
      if (rest !== '') yield { type: 'text', text: rest };
      const usage = { promptTokens: estimatePromptTokens(chat.messages), completionTokens };
      yield { type: 'end', finishReason, usage };
    },
  };
}
