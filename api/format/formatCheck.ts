import { once } from 'node:events';
import { extname } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { startLimitedThread } from '../../common/contracts/limitedThread.ts';
import type { Logger } from '../../common/logger.ts';
import { within } from '../../common/wait.ts';
import type { TextToCheck } from './thread.ts';

// Source or compiled, as this file is.
const THREAD = new URL(`./thread${extname(import.meta.filename)}`, import.meta.url);

const TEXT_CHARACTERS_MAX = 262_144;
const SCHEMA_CHARACTERS_MAX = 65_536;
export interface FormatLimits {
  /** How long one check may take. */
  readonly checkMs: number;
  /** How long an answer waits for its check, behind those of others. */
  readonly waitMs: number;
}

/** A hundred times what usual schemas take. */
const CLIENTS_LIMITS: FormatLimits = { checkMs: 250, waitMs: 2_000 };

const jsonSchemaFormat = z.object({ json_schema: z.object({ schema: z.unknown() }) });

export type FormatCheck = ReturnType<typeof createFormatCheck>;

/**
 * Holds answers against the `response_format` of their requests, one at a time in a thread of its own.
 * A check that takes too long ends with the thread, and the next one has another.
 */
export function createFormatCheck({
  logger,
  limits: { checkMs, waitMs } = CLIENTS_LIMITS,
}: {
  logger: Logger;
  limits?: FormatLimits | undefined;
}) {
  let thread: Worker | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  async function meets(request: TextToCheck): Promise<boolean | null> {
    try {
      thread ??= await startLimitedThread(THREAD);
      thread.unref();
      thread.postMessage(request);
      const [isMet] = await once(thread, 'message', { signal: AbortSignal.timeout(checkMs) });
      return isMet;
    } catch (error) {
      logger.warn({ msg: 'Held no answer against its schema in time', err: error });
      await thread?.terminate();
      thread = undefined;
      return null;
    }
  }

  return {
    /**
     * Whether an answer is JSON of the format that its request asked for: an object, or a value of its
     * schema.
     *
     * @returns undefined where none was asked for. Null of a cut answer, of so long a text or schema,
     *   and where it cannot be said in time
     */
    async judge(
      { response_format: format }: Record<string, unknown>,
      { text, finishReason }: { text: string; finishReason: string },
    ): Promise<boolean | null | undefined> {
      if (format === undefined) return undefined;
      if (finishReason !== 'stop' || text.length > TEXT_CHARACTERS_MAX) return null;
      const schema = JSON.stringify(schemaOf(format));
      if (schema.length > SCHEMA_CHARACTERS_MAX) return null;
      let isAwaited = true;
      const checking = turn.then(() => (isAwaited ? meets({ text, schema }) : null));
      turn = checking;
      const isMet = await within(waitMs, checking);
      isAwaited = false;
      return isMet ?? null;
    },
    async close(): Promise<void> {
      await turn;
      await thread?.terminate();
    },
  };
}

/** Without a schema, any value is one of it. */
function schemaOf(format: unknown): unknown {
  const { success, data } = jsonSchemaFormat.safeParse(format);
  return success ? (data.json_schema.schema ?? {}) : { type: 'object' };
}
