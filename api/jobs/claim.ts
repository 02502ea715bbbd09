import type { AnswerCopy } from './replay.ts';

/** The right to run a request, or the answer that it had before. */
export type Claim = NewClaim | Replay;

/**
 * Reports what became of the response to a claim; the first report counts. Without an Idempotency-Key it
 * decides whether the request may be repeated: only an answer that may have been lost is given again.
 */
export interface ResponseReport {
  /** The answer was handed to its connection to the last byte. */
  delivered(): void;
  /** The connection closed before that: the client may have nothing, or a part, or an error. */
  lost(): void;
}

export interface Replay extends ResponseReport {
  status: 'replay';
  jobId: string;
  copy: AnswerCopy;
}

export interface NewClaim extends ResponseReport {
  status: 'new';
  /** Nothing was locked for it and nothing ever will be: a repeat may run. */
  release(): Promise<void>;
  /** Before its settlement is sent, so that a repeat that finds the charge finds the answer. */
  store(copy: AnswerCopy): Promise<void>;
  /** The job has ended, or will not be settled. */
  end(): void;
}
