import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { FINISH_REASONS } from '../../../common/workerProtocol.ts';

const SEPARATOR = '\n---\n';
const count = z.number().int().nonnegative();

const head = z.strictObject({
  source: z.string().min(1),
  about: z.string().min(1),
  status: z.number().int().default(200),
  headers: z.record(z.string(), z.string()).default({ 'content-type': 'text/event-stream' }),
  /** Fields of the client's request that matter here. */
  request: z.record(z.string(), z.unknown()).default({}),
  /** Whether the connection closes before the body ends. */
  breaks: z.boolean().default(false),
  expect: z.union([
    z.strictObject({
      text: z.string(),
      reasoning: z.string().default(''),
      /** Names and arguments, and their ids where the server gives some. */
      calls: z
        .array(
          z.strictObject({ id: z.string().optional(), name: z.string(), arguments: z.string() }),
        )
        .default([]),
      finish: z.enum(FINISH_REASONS),
      /** Tokens; absent where none can be read. */
      usage: z
        .strictObject({ prompt: count, completion: count, reasoning: count })
        .partial()
        .optional(),
    }),
    z.strictObject({
      error: z.string(),
      param: z.string().optional(),
      /** Seconds that it says itself. */
      retryAfter: count.optional(),
    }),
  ]),
});

/** What one model server sends for one streamed chat completion, and what must come of it. */
export interface Dialect extends z.output<typeof head> {
  /** The file's name, without its ending. */
  name: string;
  body: Buffer;
}

/**
 * Reads all files beside this one, in the order of their names.
 *
 * @throws Error that names the file whose head is malformed
 */
export function readDialects(): Dialect[] {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.http'));
  return files.sort().map((file) => {
    const bytes = readFileSync(join(import.meta.dirname, file));
    const at = bytes.indexOf(SEPARATOR);
    const parsed = head.safeParse(at < 0 ? undefined : parseHead(bytes.toString('utf8', 0, at)));
    if (!parsed.success) throw new Error(`${file}: ${z.prettifyError(parsed.error)}`);
    const body = bytes.subarray(at + SEPARATOR.length);
    return { ...parsed.data, name: file.replace(/\.http$/, ''), body };
  });
}

function parseHead(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
