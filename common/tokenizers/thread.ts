import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { Tokenizer } from '@huggingface/tokenizers';

/** The entry of the thread that counts: one answer a message, in order. */

export interface TextsToCount {
  modelId: string;
  texts: readonly string[];
}

/** Exactly one of both. A fault never quotes the text. */
export interface Counted {
  tokens?: number;
  fault?: string;
}

const EXTENSION = '.json';

const tokenizers = loadTokenizers(workerData as string);
parentPort?.on('message', (request: TextsToCount) => parentPort?.postMessage(count(request)));
parentPort?.postMessage(new Set(tokenizers.keys()));

/** By model id, which a file's name spells as a URL would. Links to one file share its memory. */
function loadTokenizers(folder: string): ReadonlyMap<string, Tokenizer> {
  const byPath = new Map<string, Tokenizer>();
  const names = readdirSync(folder).filter((name) => name.endsWith(EXTENSION));
  return new Map(
    names.map((name) => {
      const path = realpathSync(join(folder, name));
      const tokenizer = byPath.get(path) ?? loadTokenizer(path, name);
      byPath.set(path, tokenizer);
      return [decodeURIComponent(name.slice(0, -EXTENSION.length)), tokenizer];
    }),
  );
}

function loadTokenizer(path: string, name: string): Tokenizer {
  try {
    return new Tokenizer(JSON.parse(readFileSync(path, 'utf8')), {});
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
}

function count({ modelId, texts }: TextsToCount): Counted {
  const tokenizer = tokenizers.get(modelId);
  if (!tokenizer) return { fault: `no tokenizer of ${modelId}` };
  try {
    const counts = texts.map(
      (text) => tokenizer.encode(text, { add_special_tokens: false }).ids.length,
    );
    return { tokens: counts.reduce((sum, tokens) => sum + tokens, 0) };
  } catch (error) {
    return { fault: (error as Error).name };
  }
}
