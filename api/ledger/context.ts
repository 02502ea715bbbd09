import type { PublicKey } from '@solana/web3.js';
import { createHeliusFee } from '../../common/heliusFee.ts';
import type { Logger } from '../../common/logger.ts';
import type { Commitment } from '../../common/net/commitment.ts';
import { createBackground, delay, systemTime, type Time, within } from '../../common/wait.ts';
import { fetchJob } from '../../programs/client/accounts.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { Job } from '../../programs/client/generated/types.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import type { KeyHolder } from '../../programs/client/proof.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { createBatcher } from '../../programs/client/sender/batcher.ts';
import { createLedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import { createPriorityFee } from '../../programs/client/sender/priorityFee.ts';
import type { createSender, Sender } from '../../programs/client/sender/sender.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/sendResult.ts';
import type { SentVersion } from '../../programs/client/sender/transaction.ts';
import { type DeploymentFault, findDeploymentFaults } from './deployment.ts';
import { createFloat } from './float.ts';

/** A node that is away, or behind the others, is usually back within this time. */
const RETRY_MS_MAX = 5_000;
const RETRY_PAUSE_MS = 500;

/** What every instruction of the API needs to reach the ledger. */
export type LedgerContext = ReturnType<typeof openLedger>['context'];

/**
 * Reads from a node, again for five seconds while none answers.
 *
 * @param signature of the transaction whose fate stays unknown without the answer
 * @throws LedgerUnavailableError with that signature
 */
export async function retryRead<Answer>(
  { time }: Pick<LedgerContext, 'time'>,
  read: () => Promise<Answer>,
  signature: string | null = null,
): Promise<Answer> {
  const untilMs = time.nowMs() + RETRY_MS_MAX;
  let cause: unknown;
  for (let leftMs = RETRY_MS_MAX; leftMs > 0; leftMs = untilMs - time.nowMs()) {
    try {
      const answer = await within(
        leftMs,
        read().then((value) => ({ value })),
        time,
      );
      if (answer) return answer.value;
    } catch (error) {
      cause = error;
    }
    await delay(RETRY_PAUSE_MS, undefined, time);
  }
  throw new LedgerUnavailableError('No node of the ledger answers', { signature, cause });
}

/**
 * The Job as of a slot or later; null when it does not exist there.
 *
 * @param ended how a transaction about it ended, where one was sent
 * @throws LedgerUnavailableError with the transaction's signature
 */
export function readJob(
  context: LedgerContext,
  address: PublicKey,
  ended: { slot: number; signature: string | null } = { slot: 0, signature: null },
): Promise<Job | null> {
  const { connection, commitment, addresses } = context;
  const { programId } = addresses;
  const { slot: minContextSlot, signature } = ended;
  const reading = { commitment, minContextSlot, programId };
  return retryRead(context, () => fetchJob(connection, address, reading), signature);
}

/** For `catch`: undefined where the ledger was out of reach. @throws anything else */
export function ignoreUnavailable(error: unknown): undefined {
  if (!(error instanceof LedgerUnavailableError)) throw error;
  return undefined;
}

/** The accounts and keys that identify us as the controller. */
export function actor(context: LedgerContext) {
  return {
    programId: context.addresses.programId,
    signer: context.signer.publicKey,
    gateway: context.gateway,
  };
}

/** Between two log lines about a node that does not answer. */
const WARNING_INTERVAL_MS = 5_000;

/** What keeps this process from locking on this ledger. @throws when no node answers */
export function readFaults(context: LedgerContext): Promise<DeploymentFault[]> {
  return retryRead(context, () => findDeploymentFaults(context));
}

/**
 * Waits for the ledger's time, without which no deadline of a job can be judged, and logs that it
 * waits. Then checks whether the ledger lets this process lock.
 *
 * @returns what is wrong, each logged; undefined when the clock was closed before it was read
 */
export async function reachLedger(context: LedgerContext): Promise<DeploymentFault[] | undefined> {
  const { clock, logger } = context;
  const warning = setInterval(
    () => logger.warn({ msg: 'Waiting for the time of the node at SOLANA_RPC_URL' }),
    WARNING_INTERVAL_MS,
  );
  const isRead = await clock.ready.then(
    () => true,
    () => false,
  );
  clearInterval(warning);
  if (!isRead) return undefined;
  try {
    const faults = await readFaults(context);
    for (const { part, message } of faults) logger.error({ msg: message, part });
    return faults;
  } catch (error) {
    logger.warn({ msg: 'Could not read the Gateway', err: error });
    return [];
  }
}

/** More would hold up the others of a failed one for nothing: they cost little each. */
const ACKNOWLEDGEMENTS_MAX = 12;
const EXITS_MAX = 12;
/**
 * While a lock is in flight the next ones wait for a shared transaction, but no longer than this. A
 * lock is in flight for a slot and more: waiting for its end would cost two.
 */
const LOCK_LINGER_MS = 20;
/** The same of settlements, for which no first token waits: each shared one saves a fee. */
const SETTLEMENT_LINGER_MS = 100;
/** Only an error message waits for an exit. */
const EXIT_LINGER_MS = 500;

/**
 * What ends jobs goes before what begins them. If they alternated, a ledger slower than the workers
 * would get ever more locks, and delivered answers would not be settled in time.
 */
const URGENT_LANES = ['settlements', 'exits'];

interface LedgerSettings {
  SVC_SIGNER_KEY: KeyHolder;
  SVC_FEE_PAYER_KEYS: readonly KeyHolder[];
  SVC_GATEWAY: PublicKey;
  SVC_SUBMISSIONS_MAX: number;
  SVC_ACKNOWLEDGEMENT_LINGER_MS: number;
  SVC_SETTLEMENT_LINGER_MS: number;
  SOLANA_WS_URL?: string | undefined;
  HELIUS_API_KEY?: string | undefined;
}

/** Opens everything the API needs to read and move jobs on the ledger, whose node may be away. */
export function openLedger(options: {
  config: LedgerSettings;
  commitment: Commitment;
  /** Of the transactions that are sent; legacy by default. */
  version?: SentVersion;
  connection: LedgerConnection;
  rpc: Rpc;
  addresses: Addresses;
  logger: Logger;
  createSender: typeof createSender;
  time?: Time;
}) {
  const { config, commitment, version, connection, rpc, addresses, logger } = options;
  const { time = systemTime } = options;
  const clock = createLedgerClock({ rpc });
  const payers = [config.SVC_SIGNER_KEY, ...config.SVC_FEE_PAYER_KEYS];
  const feePayers = payers.map(({ publicKey }) => publicKey);
  const sender = options.createSender({
    rpc,
    commitment,
    logger,
    feePayers: payers,
    ...(config.SOLANA_WS_URL && { wsUrl: config.SOLANA_WS_URL }),
    submissionsMax: config.SVC_SUBMISSIONS_MAX,
    ...(version && { version }),
    urgentLanes: URGENT_LANES,
    priorityFee: createPriorityFee({
      rpc,
      writableAccounts: [addresses.vault, addresses.treasuryVault],
      estimate: createHeliusFee(config.HELIUS_API_KEY),
      logger,
      nowMs: time.nowMs,
    }),
    nowMs: time.nowMs,
  });
  const context = {
    connection,
    /** For transactions of every version, as the node shows them. */
    rpc,
    commitment,
    addresses,
    /** The Gateway account: the controller of our jobs. */
    gateway: config.SVC_GATEWAY,
    /** The hot signer that acts for it, and pays fees and rent. */
    signer: config.SVC_SIGNER_KEY,
    /** The keys that pay, in order: the hot signer, and those for when it cannot. */
    feePayers,
    float: createFloat({ rpc, commitment, feePayers, nowMs: time.nowMs }),
    sender,
    clock,
    time,
    logger,
    /** Locks that came too late for their requests, until each job is failed. */
    lateLocks: createBackground(),
    ...createBatchers(sender, config),
  };
  return {
    context,
    close(): void {
      clock.close();
      const { locks, acknowledgements, settlements, exits } = context;
      for (const batcher of [locks, acknowledgements, settlements, exits]) batcher.close();
      sender.close();
    },
  };
}

function createBatchers(sender: Sender, config: LedgerSettings) {
  const { SVC_ACKNOWLEDGEMENT_LINGER_MS: acknowledgementMs } = config;
  return {
    locks: createBatcher({ sender, lane: 'locks', lingerMs: LOCK_LINGER_MS }),
    acknowledgements: createBatcher({
      sender,
      lane: 'acknowledgements',
      itemsMax: ACKNOWLEDGEMENTS_MAX,
      lingerMs: acknowledgementMs,
      idleLingerMs: acknowledgementMs,
    }),
    settlements: createBatcher({
      sender,
      lane: 'settlements',
      lingerMs: SETTLEMENT_LINGER_MS,
      idleLingerMs: config.SVC_SETTLEMENT_LINGER_MS,
    }),
    /** Failures, refunds and disputes: numbers only, so several share a transaction. */
    exits: createBatcher({ sender, lane: 'exits', itemsMax: EXITS_MAX, lingerMs: EXIT_LINGER_MS }),
  };
}
