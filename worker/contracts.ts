import { PublicKey } from '@solana/web3.js';
import { z } from 'zod';

const U32_MAX = 0xffff_ffff;
const U8_MAX = 0xff;

const publicKey = z.string().transform((text, context) => {
  try {
    return new PublicKey(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'not a base58 address' });
    return z.NEVER;
  }
});

const attempt = z.number().int().min(1).max(U8_MAX);

/** As the API takes them of its clients. */
/** 256 characters, of which each may be two units of a JavaScript string. */
const stopSequence = z.string().min(1).max(512);

/** The part of a chat-completions body that reaches an engine; other fields are dropped. */
const chatRequest = z.object({
  model: z.string().min(1).max(64),
  messages: z
    .array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }))
    .min(1),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  frequency_penalty: z.number().optional(),
  presence_penalty: z.number().optional(),
  seed: z.number().int().optional(),
  stop: z.union([stopSequence, z.array(stopSequence).max(16)]).optional(),
});

/** Body of `POST /jobs`. */
export const jobRequest = z.object({
  job_id: z.string(),
  job_address: publicKey,
  program_id: publicKey,
  worker_address: publicKey,
  attempt,
  token_limit: z.number().int().min(1).max(U32_MAX),
  chat: chatRequest,
});

/** Body of `POST /jobs/:job_address/stop`. */
export const stopRequest = z.object({ attempt });

/** The path parameter of `POST /jobs/:job_address/stop`. */
export const stopPath = z.object({ job_address: publicKey });

export type ChatRequest = z.infer<typeof chatRequest>;
export type JobRequest = z.infer<typeof jobRequest>;
