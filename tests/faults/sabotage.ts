import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { jobProve } from '../../programs/client/instructions.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import {
  type ProvenOutput,
  proofMessage,
  type SignedMessage,
  signHashed,
} from '../../programs/client/proof.ts';
import { submit } from '../../stack/operator.ts';
import { REQUEST } from '../../testing/kit/jobInstructions.ts';
import type { RunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import type { TestWorker } from '../../testing/workers/testWorker.ts';

/** A garbage proof, landed as soon as the worker is acknowledged; then it leaves. */
export async function proveGarbage(service: RunningService, thief: TestWorker): Promise<void> {
  const worker = publicKeyOf(thief.address);
  const find = async () =>
    (await service.jobs()).find(
      ({ data }) => data.status === 'processing' && data.worker.equals(worker),
    );
  const giveUpMs = performance.now() + 2_000;
  let found: Awaited<ReturnType<typeof find>>;
  await until(async () => {
    found = await find();
    return found !== undefined || performance.now() > giveUpMs;
  });
  if (found) {
    const output = {
      outputHash: new Uint8Array(32).fill(7),
      promptTokens: 1,
      completionTokens: 2_000,
      statement: REQUEST,
    };
    const { address: job, data } = found;
    const proof = { job: job.toBase58(), attempt: data.attempt, ...output };
    const { signature } = signedProof(thief, proof);
    const prove = jobProve({ job, worker, ...output, signature });
    // The job may have gone on to another worker by now.
    await submit(service.operator, [prove]).catch(() => undefined);
  }
  thief.drop();
}

export function signedProof(
  worker: TestWorker,
  proof: ProvenOutput & { job: string; attempt: number },
): SignedMessage {
  const message = proofMessage({
    ...proof,
    programId: PROGRAM_ID,
    job: publicKeyOf(proof.job),
    worker: publicKeyOf(worker.address),
  });
  const { proofKeypair } = worker;
  return {
    publicKey: proofKeypair.publicKey,
    message,
    signature: signHashed(message, proofKeypair),
  };
}
