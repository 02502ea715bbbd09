/** What each example prints, to the character except for a job's id. */
export const PRINTED: Readonly<Record<string, string>> = {
  'settleJob.ts': `job_…: 12 credits locked, 88 available
proven: true
charged: 9 credits for 2090 tokens
paid to the worker: 76500 base units
available again: 91 credits
`,
  'refundJob.ts': `after 120 s: DeadlineNotReached
after 121 s: refunded
available: 100 credits
`,
  'disputeJob.ts': `outcome: upheld_worker
stake left: 500 tokens
owed: 8 credits
still owed: 7 credits
`,
  'readEvents.ts': `1 JobLocked: 12 (standard)
2 JobAcknowledged
3 JobProven
4 JobSettled: 9 charged
2 JobCompleted: 8 charged
`,
  'verifyProof.ts': `"Hello from a worker." is proven: true, receipted: true
"Hello from a worker!" is proven: false, receipted: false
`,
};

/** Jobs have ids of their own in every run. */
export const withoutId = (stdout: string): string => stdout.replace(/job_[0-9a-f]{32}/, 'job_…');
