import { z } from 'zod';
import { jobId, sha256Hash, transactionSignature } from './values.ts';

const PREFIX = 'sha256:';

/** The body of POST /v1/jobs/{job_id}/dispute; the digest's hexadecimal digits in either case. */
export const disputeRequest = z.object(
  {
    received_output_hash: z
      .string({ error: 'must be a string' })
      .regex(/^sha256:[0-9a-fA-F]{64}$/, {
        error: 'must be sha256: and 64 hexadecimal digits',
      })
      .transform((text) => text.slice(PREFIX.length).toLowerCase())
      .describe(
        'The sha256 of the whole text received, as UTF-8 without a newline at its end: ' +
          '`sha256:` and 64 hexadecimal digits.',
      ),
  },
  { error: 'must be a JSON object' },
);

/** What became of the comparison. */
export const disputeAnswer = z.object({
  job_id: jobId,
  dispute_opened: z.boolean(),
  your_hash: sha256Hash,
  worker_hash: sha256Hash.describe('The hash that the worker signed.'),
  dispute_tx: transactionSignature.optional().describe('With an opened dispute.'),
  arbitration_window_hours: z.int().min(1).optional().describe('With an opened dispute.'),
  message: z
    .string()
    .optional()
    .describe('Our choice: with equal hashes, that no dispute was opened.'),
});

export type DisputeAnswer = z.infer<typeof disputeAnswer>;
