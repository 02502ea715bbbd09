import type { Response } from 'express';
import {
  type AnswerProof,
  createDelivery,
  type FinishReason,
  type Usage,
} from '../response/delivery.ts';

/** All that a repeated request needs to be answered like the first. */
export interface AnswerCopy {
  text: string;
  reasoning: string;
  finishReason: FinishReason;
  isTruncated: boolean;
  usage: Usage;
  creditsCharged: number;
  modelId: string;
  created: number;
  escrowTx: string;
  /** 64 hexadecimal digits. */
  requestSalt: string;
  engine: string | null;
  proof: AnswerProof;
}

/** Gives the answer of an earlier request again, in the form that this one asks for. */
export function replayAnswer(options: {
  response: Response;
  jobId: string;
  wallet: string;
  copy: AnswerCopy;
  settlementTx: string | null;
  creditsRemaining: number | null;
  isStream: boolean;
  includeUsage: boolean;
  publicUrl: string;
  /** Called once the answer was handed to its connection to the last byte. */
  onWhole: () => void;
}): void {
  const { response, jobId, wallet, copy, settlementTx, creditsRemaining } = options;
  const { modelId, created, escrowTx, requestSalt, proof, engine } = copy;
  response.set('x-svc-replayed', 'true');
  const identity = { jobId, wallet, modelId, created, escrowTx, requestSalt };
  const delivery = createDelivery({ ...options, identity });
  delivery.begin({ address: proof.worker, engine });
  if (copy.reasoning) delivery.write({ type: 'reasoning', text: copy.reasoning });
  delivery.write({ type: 'content', text: copy.text });
  const { finishReason, isTruncated, usage, creditsCharged } = copy;
  delivery.finish({ finishReason, isTruncated, usage, creditsCharged, proof });
  delivery.settled({ settlementTx, creditsRemaining });
}
