import type { PublicKey } from '@solana/web3.js';
import { unlessAborted } from '../../common/wait.ts';
import {
  type KeyHolder,
  type ProvenOutput,
  proofMessage,
  signHashedBy,
} from '../../programs/client/proof.ts';

/** The answer of one attempt, as its proof states it. */
interface ProvenAnswer extends ProvenOutput {
  job: PublicKey;
  attempt: number;
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
 * @param cancel ends the wait for a key in a module; its reason is thrown
 * @throws what the module throws
 */
export type SignProof = (answer: ProvenAnswer, cancel?: AbortSignal) => Promise<Proof>;

const NEVER = new AbortController().signal;

/** Signs proofs of one worker for one deployment of the program. */
export function createProofSigner(signer: {
  programId: PublicKey;
  worker: PublicKey;
  proofKey: KeyHolder;
}): SignProof {
  return async (answer, cancel = NEVER) => {
    const { programId, worker, proofKey } = signer;
    const message = proofMessage({ ...answer, programId, worker });
    const signature = await unlessAborted(cancel, signHashedBy(message, proofKey));
    return {
      output_hash: `sha256:${Buffer.from(answer.outputHash).toString('hex')}`,
      prompt_tokens: answer.promptTokens,
      completion_tokens: answer.completionTokens,
      signature: Buffer.from(signature).toString('base64'),
    };
  };
}
