import type { AnswerCopy } from './replay.ts';

/** The right to run a request, or the answer that it had before. */
export type Claim = NewClaim | Replay;

/**
 * What became of the response to a claim. Without an Idempotency-Key that decides whether the request
 * may be repeated: only an answer that may have been lost is given again. Whatever is said first counts.
 */
export interface Answered {
  /** The answer was handed to its connection to the last byte. */
  delivered(): void;
  /** The connection is over without that: the client may have nothing, or a part, or an error. */
  lost(): void;
}

export interface Replay extends Answered {
  status: 'replay';
  jobId: string;
  copy: AnswerCopy;
}

export interface NewClaim extends Answered {
  status: 'new';
  /** Nothing was locked for it and nothing ever will be: the next one may run. */
  release(): Promise<void>;
  /** Before its settlement is sent, so that a repeat that finds the charge finds the answer. */
  store(copy: AnswerCopy): Promise<void>;
  /** The job has ended, or will not be settled. */
  end(): void;
}
