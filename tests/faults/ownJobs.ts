import type { Keypair, PublicKey } from '@solana/web3.js';
import { createAddresses, PROGRAM_ID } from '../../programs/client/addresses.ts';
import { jobFail, jobLock } from '../../programs/client/instructions.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { submit } from '../../stack/operator.ts';
import { readClockSeconds } from '../../testing/ledger/ledger.ts';
import type { RunningService } from '../../testing/service/runningService.ts';
import { postSigned } from '../../testing/workers/signedRequest.ts';

/** A wallet that locks jobs with its own signature, so that it controls them, and asks workers itself. */
export function createOwnJobs(service: RunningService, keypair: Keypair) {
  const { operator, model, ledger } = service;
  const wallet = keypair.publicKey;
  const creditAccount = createAddresses().creditAccount(wallet);
  const tokenLimit = 200;
  return {
    async lock(): Promise<OwnJob> {
      const nowMs = Number(await readClockSeconds(ledger.connection)) * 1_000;
      const job = createJobId({ nowMs, creditAccount });
      const payer = operator.authority.publicKey;
      const terms = { modelId: model.id, jobId: job.bytes, tokenLimit, maxCredits: 1_000n };
      await submit(operator, [jobLock({ payer, signer: wallet, wallet, ...terms })], [keypair]);
      return job;
    },
    /** Asks a worker for one of its attempts. */
    ask: (worker: { url: string; address: PublicKey }, job: OwnJob, attempt: number) =>
      postSigned({
        ...{ url: worker.url, kind: 'job', worker: worker.address, job: job.address },
        signer: keypair,
        content: {
          job_id: formatJobId(job.bytes),
          job_address: job.address.toBase58(),
          program_id: PROGRAM_ID.toBase58(),
          worker_address: worker.address.toBase58(),
          attempt,
          token_limit: tokenLimit,
          request_salt: '00'.repeat(32),
          chat: { model: model.id, messages: [{ role: 'user', content: 'For free, please.' }] },
        },
      }),
    /** Takes its credits back. */
    async fail({ address: job }: OwnJob): Promise<void> {
      const none = { deliveredHash: new Uint8Array(32), countedTokens: 0 };
      const named = { signer: wallet, job, creditAccount };
      await submit(operator, [jobFail({ ...named, ...none, reason: 'worker_error' })], [keypair]);
    },
  };
}

interface OwnJob {
  address: PublicKey;
  bytes: Uint8Array;
}
