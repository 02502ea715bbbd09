import type { ToolCall } from '../../programs/client/statement.ts';
import {
  type AnswerIdentity,
  type AnswerResult,
  createDelivery,
  type DeliveryOptions,
  type SettlementFacts,
} from '../response/delivery.ts';

/** What makes two requests of a wallet the same one. It reveals neither key nor body. */
export interface RequestIdentity {
  wallet: string;
  /** HMAC of the Idempotency-Key, or of the body for a request without one. */
  requestKey: Buffer;
  bodyHmac: Buffer;
  /**
   * Seals the copy of the answer; made of secrets that we do not keep. It is derived when it is needed,
   * so that a request's first word does not wait for it.
   */
  copyKey(): Buffer;
  /** Whether it has an Idempotency-Key. */
  hasKey: boolean;
  /** Whether an earlier request is looked for. */
  mayRepeat: boolean;
  lifetimeSeconds: number;
}

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

/** All that a repeated request needs to be answered like the first. */
export interface AnswerCopy extends AnswerResult, Omit<AnswerIdentity, 'jobId' | 'wallet'> {
  proof: NonNullable<AnswerResult['proof']>;
  text: string;
  reasoning: string;
  toolCalls: readonly ToolCall[];
  engine: string | null;
}

/** Gives the answer of an earlier request again, in the form that this one asks for. */
export function replayAnswer(
  options: Omit<DeliveryOptions, 'identity'> &
    SettlementFacts & { jobId: string; wallet: string; copy: AnswerCopy },
): void {
  const { response, jobId, wallet, copy, settlementTx, creditsRemaining } = options;
  const { text, reasoning, toolCalls, engine, proof } = copy;
  response.set('x-svc-replayed', 'true');
  const delivery = createDelivery({ ...options, identity: { ...copy, jobId, wallet } });
  delivery.begin({ address: proof.worker, engine });
  if (reasoning) delivery.write({ type: 'reasoning', text: reasoning });
  if (text) delivery.write({ type: 'content', text });
  for (const [index, { arguments: written, ...named }] of toolCalls.entries()) {
    delivery.write({ type: 'call', index, ...named, text: written });
  }
  delivery.finish(copy);
  delivery.settled({ settlementTx, creditsRemaining });
}
