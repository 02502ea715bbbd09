import type { Connection } from '@solana/web3.js';
import { delay } from '../common/wait.ts';
import { PROGRAM_ID } from '../programs/client/addresses.ts';
import { createJobId, jobLock } from '../programs/client/index.ts';
import { submit } from '../stack/operator.ts';
import { readClockSeconds, type Service } from '../testing/ledger/ledger.ts';

const POLL_MS = 10;
/** Nothing that is measured takes so long, on the slowest machine. */
const WAIT_MS_MAX = 600_000;

/** @throws Error naming what has not come about in ten minutes */
export async function waitUntil(
  what: string,
  isSo: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Waited in vain until ${what}`);
    await delay(POLL_MS);
  }
}

/** Follows what the ledger says of the program's transactions. */
interface Confirmations {
  /** When the ledger told of a transaction, in milliseconds of `performance.now()`. */
  atMs(signature: string): Promise<number>;
  close(): Promise<void>;
}

/** Listens to the stream that the indexer listens to, too: what comes after it is the service's. */
export function watchConfirmations(connection: Connection): Confirmations {
  const notifiedAtMs = new Map<string, number>();
  const subscription = connection.onLogs(
    PROGRAM_ID,
    ({ signature }) => void notifiedAtMs.set(signature, performance.now()),
    'confirmed',
  );
  return {
    async atMs(signature) {
      await waitUntil(`the ledger tells of ${signature}`, () => notifiedAtMs.has(signature));
      return notifiedAtMs.get(signature) as number;
    },
    close: () => connection.removeOnLogsListener(subscription),
  };
}

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
      signer: hotSigner.publicKey,
      gateway,
      payer: operator.authority.publicKey,
      wallet: wallet.publicKey,
      modelId: model.id,
      jobId: createJobId({ nowMs, creditAccount }).bytes,
      tokenLimit: 2_000,
      maxCredits: LOCK_CREDITS,
    }),
  );
  await submit(operator, locks, [hotSigner]);
}
