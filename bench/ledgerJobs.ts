import type { Connection } from '@solana/web3.js';
import { delay } from '../common/wait.ts';
import { PROGRAM_ID } from '../programs/client/addresses.ts';
import { createJobId, jobLock } from '../programs/client/index.ts';
import { connectLedger } from '../programs/client/verify/connection/connectLedger.ts';
import { submit } from '../stack/operator.ts';
import { readClockSeconds, type Service } from '../testing/ledger/ledger.ts';
import type { Random } from '../testing/random.ts';

const POLL_MS = 10;
/** Longer than any measurement takes on the slowest machine. */
const WAIT_MS_MAX = 600_000;

/** @throws Error with the condition that was not met in ten minutes */
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

/**
 * Subscribes to the program's transactions. It is the same subscription as the indexer's, so that any
 * later time is the service's.
 */
export function watchConfirmations(connection: Connection) {
  const notifiedAtMs = new Map<string, number>();
  const subscription = connection.onLogs(
    PROGRAM_ID,
    ({ signature }) => void notifiedAtMs.set(signature, performance.now()),
    'confirmed',
  );
  return {
    /** The time of a transaction's notification, in milliseconds of `performance.now()`. */
    async atMs(signature: string): Promise<number> {
      await waitUntil(`the ledger has ${signature}`, () => notifiedAtMs.has(signature));
      return notifiedAtMs.get(signature) as number;
    },
    close: () => connection.removeOnLogsListener(subscription),
  };
}

/** The credits of each lock: the launch price of the model that `openService` adds. */
const LOCK_CREDITS = 8n;

export function creditsFor(locks: number): bigint {
  return BigInt(locks) * LOCK_CREDITS;
}

/** Locks one job. */
export async function lockJob(service: Service): Promise<void> {
  const { operator, hotSigner, gateway, creditAccount, wallet, model } = service;
  const nowMs = Number(await readClockSeconds(connectLedger(operator.rpc))) * 1_000;
  const lock = jobLock({
    signer: hotSigner.publicKey,
    gateway,
    payer: operator.authority.publicKey,
    wallet: wallet.publicKey,
    modelId: model.id,
    jobId: createJobId({ nowMs, creditAccount }).bytes,
    tokenLimit: 2_000,
    maxCredits: LOCK_CREDITS,
  });
  await submit(operator, [lock], [hotSigner]);
}

/** No multiple of a sweep's or a poll's interval. */
const GAP_MS_MAX = 200;

/** Locks jobs one after the other, with pauses of random lengths. */
export async function lockOneByOne(service: Service, locks: number, random: Random): Promise<void> {
  for (let lock = 0; lock < locks; lock += 1) {
    await lockJob(service);
    await delay(random.below(GAP_MS_MAX));
  }
}
