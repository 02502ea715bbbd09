import { PublicKey } from '@solana/web3.js';
import { z } from 'zod';
import {
  MESSAGES_MAX,
  passedFields,
  STOP_REASONS,
  TOKENS_MAX,
  TOOL_CALLS_MAX,
  toolFields,
} from '../../common/workerProtocol.ts';
import { type Json, requestCommitment } from '../../programs/client/proof.ts';
import { WorkerError } from './errors.ts';

/** The longest base58 text of 32 bytes. */
const BASE58_CHARACTERS_MAX = 44;

/**
 * The address in a text from a request, or undefined when it is malformed.
 *
 * Decoding base58 takes time with the square of the length, so the length is checked first.
 */
export function parseAddress(text: string): PublicKey | undefined {
  if (text.length > BASE58_CHARACTERS_MAX) return undefined;
  try {
    return new PublicKey(text);
  } catch {
    return undefined;
  }
}

const U8_MAX = 0xff;

const publicKey = z.string().transform((text, context) => {
  const address = parseAddress(text);
  if (address !== undefined) return address;
  context.addIssue({ code: 'custom', message: 'not a base58 address' });
  return z.NEVER;
});

/**
 * An array whose length is checked before its items: five mebibytes hold more than a million items,
 * and each could add an error.
 */
function boundedArray<Item extends z.ZodType>(item: Item, lengths: { min: number; max: number }) {
  const isBounded = (value: unknown): boolean =>
    Array.isArray(value) && value.length >= lengths.min && value.length <= lengths.max;
  return z.custom<unknown[]>(isBounded).pipe(z.array(item));
}

const attempt = z.number().int().min(1).max(U8_MAX);

/** `job_` and 32 hexadecimal digits. */
const JOB_ID_CHARACTERS_MAX = 36;

const toolCall = z.object({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.object({ name: z.string().min(1), arguments: z.string() }),
});

const message = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
  /** What an answer called, and which of its calls a result is of. */
  tool_calls: boundedArray(toolCall, { min: 1, max: TOOL_CALLS_MAX }).optional(),
  tool_call_id: z.string().min(1).optional(),
});

/** The part of a chat-completions body that reaches an engine; other fields are dropped. */
const chatRequest = z.object({
  model: z.string().min(1).max(64),
  messages: boundedArray(message, { min: 1, max: MESSAGES_MAX }),
  ...z.object({ ...passedFields, ...toolFields }).partial().shape,
});

/** Body of `POST /jobs`. */
export const jobBody = z.object({
  job_id: z.string().max(JOB_ID_CHARACTERS_MAX),
  job_address: publicKey,
  program_id: publicKey,
  worker_address: publicKey,
  attempt,
  token_limit: z.number().int().min(1).max(TOKENS_MAX),
  request_salt: z
    .string()
    .regex(/^[0-9a-f]{64}$/i)
    .transform((digits) => Buffer.from(digits, 'hex')),
  chat: chatRequest,
});

/** Body of `POST /jobs/:job_address/stop`. */
export const stopRequest = z.object({ attempt, reason: z.enum(STOP_REASONS) });

/** The path parameter of `POST /jobs/:job_address/stop`. */
export const stopPath = z.object({ job_address: publicKey });

export type ChatRequest = z.infer<typeof chatRequest>;
type JobBody = z.infer<typeof jobBody>;

/** A job as it was asked for. */
export interface JobRequest extends Omit<JobBody, 'request_salt'> {
  /** The half of its proof's statement that the request gives. */
  requestCommitment: Uint8Array;
}

/**
 * Commits to a request as it came: the fields of `chat` that this worker drops were asked, too.
 *
 * @param raw the body that gave `job`
 * @throws WorkerError `invalid_request` for a chat without a canonical form
 */
export function commitToRequest(job: JobBody, raw: unknown): JobRequest {
  const { request_salt, ...request } = job;
  const { chat } = raw as { chat: Record<string, Json> };
  try {
    const asked = { ...chat, token_limit: request.token_limit };
    return { ...request, requestCommitment: requestCommitment(request_salt, asked) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new WorkerError('invalid_request', `chat has no canonical form: ${error.message}`);
  }
}
