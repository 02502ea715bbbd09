import { z } from 'zod';
import { route } from './route.ts';
import { bodyOf, credits, done, time, timeNullable } from './values.ts';

/** The wallet's API key, never the key itself. */
const keyState = z.object({
  key: z
    .object({
      status: z.enum(['active', 'suspended']),
      created_at: time,
      last_used_at: timeNullable.describe('To five minutes; null before its first use.'),
      suspended_by: z.enum(['operator', 'indexer']).nullable(),
      suspension_reason: z.string().nullable(),
    })
    .nullable()
    .describe('Null while the wallet has no live key.'),
  suspension: z
    .object({
      suspended_at: time,
      suspended_by: z.enum(['operator', 'indexer']),
      reason: z.string(),
    })
    .optional()
    .describe('While the wallet is suspended, whether it has a live key or not.'),
});

export type KeyState = z.infer<typeof keyState>;

/** The only answer that ever shows a key. */
const createdKey = z.object({ api_key: z.string(), created_at: time });

export type CreatedKey = z.infer<typeof createdKey>;

/** Above any balance an account can have. */
const THRESHOLD_CREDITS_MAX = 1_000_000_000_000;

const thresholdRequest = bodyOf({
  threshold_credits: z
    .int({ error: 'must be an integer' })
    .min(0, { error: 'must be at least 0' })
    .max(THRESHOLD_CREDITS_MAX, { error: `must be at most ${THRESHOLD_CREDITS_MAX}` }),
});

/** When `credit.low` fires. */
export const threshold = z.object({
  threshold_credits: credits.describe('100 until it is set.'),
  is_low: z.boolean().describe('Whether the alert has fired and is not armed again yet.'),
});

export type Threshold = z.infer<typeof threshold>;

export const settingsRoutes = {
  getKey: route('GET', '/key', ['session'], {
    summary: "the state of the wallet's API key",
    answer: keyState,
  }),
  postKey: route('POST', '/key', ['fresh session'], {
    summary: 'make the key, shown once',
    answer: createdKey,
  }),
  regenerateKey: route('POST', '/key/regenerate', ['fresh session'], {
    summary:
      'revoke the key and make another in one transaction, unless it was replaced in between',
    answer: createdKey,
  }),
  deleteKey: route('DELETE', '/key', ['session'], {
    summary: 'revoke the key; a suspension stays',
    answer: done,
  }),
  getThreshold: route('GET', '/threshold', ['session'], {
    summary: 'the threshold of `credit.low`',
    answer: threshold,
  }),
  putThreshold: route('PUT', '/threshold', ['session'], {
    summary: 'set it, and reset the alert',
    body: thresholdRequest,
    answer: threshold,
  }),
};
