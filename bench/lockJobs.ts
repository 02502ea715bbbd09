import { createJobId, jobLock } from '../programs/client/index.ts';
import { submit } from '../stack/operator.ts';
import { readClockSeconds, type Service } from '../tests/support/ledger.ts';

/** What each sets aside: the launch price of the model that `openService` adds. */
const LOCK_CREDITS = 8n;

export function creditsFor(locks: number): bigint {
  return BigInt(locks) * LOCK_CREDITS;
}

/** Locks jobs in one transaction, at most six; each emits one event. */
export async function lockJobs(service: Service, count: number): Promise<void> {
  const { operator, hotSigner, gateway, creditAccount, wallet, model } = service;
  const nowMs = Number(await readClockSeconds(operator.connection)) * 1_000;
  const locks = Array.from({ length: count }, () =>
    jobLock({
      ...{ signer: hotSigner.publicKey, gateway, payer: operator.authority.publicKey },
      ...{ wallet: wallet.publicKey, modelId: model.id },
      jobId: createJobId({ nowMs, creditAccount }).bytes,
      ...{ tokenLimit: 2_000, maxCredits: LOCK_CREDITS },
    }),
  );
  await submit(operator, locks, [hotSigner]);
}
