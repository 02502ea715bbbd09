import type { PublicKey } from '@solana/web3.js';
import { unlessAborted } from '../../common/wait.ts';
import { type KeyHolder, proofMessage, signBy } from '../../programs/client/proof.ts';
import type { FinishReason } from '../engine/engine.ts';
import type { JobRequest } from '../protocol/contracts.ts';

interface Delta {
  role?: 'assistant';
  content?: string;
  reasoning_content?: string;
}

/** Makes the `chat.completion.chunk` objects of one job. */
export function createChunks(
  request: Pick<JobRequest, 'job_id'> & { chat: Pick<JobRequest['chat'], 'model'> },
) {
  const created = Math.floor(Date.now() / 1_000);
  return (delta: Delta, finishReason: FinishReason | null = null) => ({
    id: `chatcmpl-${request.job_id}`,
    object: 'chat.completion.chunk',
    created,
    model: request.chat.model,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
}

/** What one attempt produced. */
interface Outcome {
  job: PublicKey;
  attempt: number;
  /** sha256 of the text that was sent. */
  outputHash: Uint8Array;
  promptTokens: number;
  completionTokens: number;
}

/** Data of the `proof` event. */
export interface Proof {
  /** `sha256:` and 64 lower-case hex digits. */
  output_hash: string;
  prompt_tokens: number;
  completion_tokens: number;
  /** base64 of the 64-byte ed25519 signature. */
  signature: string;
}

/**
 * @param cancel ends the wait for a key that is kept elsewhere; its reason is thrown
 * @throws what the key's keeper throws
 */
export type SignProof = (outcome: Outcome, cancel?: AbortSignal) => Promise<Proof>;

const NEVER = new AbortController().signal;

/** Signs proofs of one worker for one deployment of the program. */
export function createProofSigner(signer: {
  programId: PublicKey;
  worker: PublicKey;
  proofKey: KeyHolder;
}): SignProof {
  return async (outcome, cancel = NEVER) => {
    const { programId, worker, proofKey } = signer;
    const message = proofMessage({ ...outcome, programId, worker });
    const signature = await unlessAborted(cancel, signBy(message, proofKey));
    return {
      output_hash: `sha256:${Buffer.from(outcome.outputHash).toString('hex')}`,
      prompt_tokens: outcome.promptTokens,
      completion_tokens: outcome.completionTokens,
      signature: Buffer.from(signature).toString('base64'),
    };
  };
}
