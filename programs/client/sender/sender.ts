import type { AddressLookupTableAccount, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { preflightErrorOf, sendTransaction, type TransactionError } from '../rpc/methods.ts';
import { type Rpc, RpcError } from '../rpc/rpc.ts';
import {
  type Blockhash,
  COMMITMENT,
  createBlockhashes,
  createConfirmer,
  type SenderCommitment,
} from './confirmer.ts';
import {
  isUnableToPay,
  LedgerUnavailableError,
  type Refusal,
  refusalOf,
  type SendResult,
  WithdrawnError,
} from './sendResult.ts';
import type { Signer } from './signer.ts';
import {
  computeBudget,
  createRoom,
  LOADED_BYTES_MAX,
  LOADED_BYTES_USUAL,
  type Room,
  type SentVersion,
  type SignedTransaction,
  signTransaction,
  transactionConfig,
} from './transaction.ts';

/** Work that waits for its turn. */
interface Waiting {
  sinceMs: number;
  begin: () => void;
}

/**
 * Work in lanes, of which a limited number runs at a time. Within a lane it is first come, first
 * served. Lanes alternate, so that a burst in one never holds up all others. Urgent lanes go first.
 *
 * @param options.limit how many may run at a time
 * @param options.nowMs a monotone clock in milliseconds
 */
export function createLaneQueue(options: {
  limit: number;
  urgentLanes?: readonly string[];
  nowMs: () => number;
}) {
  const { limit, urgentLanes = [], nowMs } = options;
  /** Lanes in which work waits, in the order they are served. */
  const lanes = new Map<string, Waiting[]>();
  let running = 0;

  function wait(lane: string): Promise<void> {
    return new Promise((begin) => {
      const waiting = lanes.get(lane) ?? [];
      waiting.push({ sinceMs: nowMs(), begin });
      lanes.set(lane, waiting);
    });
  }

  /** Gives the place to the next, so that newer work cannot overtake it. */
  function runNext(): void {
    const served = [...lanes].find(([lane]) => urgentLanes.includes(lane)) ?? [...lanes][0];
    if (served === undefined) {
      running -= 1;
      return;
    }
    const [lane, waiting] = served;
    const next = waiting.shift();
    lanes.delete(lane);
    if (waiting.length > 0) lanes.set(lane, waiting);
    next?.begin();
  }

  return {
    /** Runs `work` when its turn comes. */
    async run<Result>(lane: string, work: () => Promise<Result>): Promise<Result> {
      if (running >= limit) await wait(lane);
      else running += 1;
      try {
        return await work();
      } finally {
        runNext();
      }
    },
    /** How long the first that waits in the lane has waited; 0 when none does. */
    waitedMs(lane: string): number {
      const first = lanes.get(lane)?.[0];
      return first ? nowMs() - first.sinceMs : 0;
    },
  };
}

/** A fee payer that runs short of lamports is usually funded within minutes. */
const PASSED_OVER_MS = 60_000;

/**
 * The keys that pay for transactions, in order.
 *
 * @param options.nowMs a monotone clock in milliseconds
 */
export function createFeePayers(options: { keys: readonly Signer[]; nowMs: () => number }) {
  const { keys, nowMs } = options;
  const passedOverMs = new Map<Signer, number>();
  const warnedMs = new Map<Signer, number>();

  function isLongAgo(times: Map<Signer, number>, payer: Signer): boolean {
    return nowMs() - (times.get(payer) ?? Number.NEGATIVE_INFINITY) >= PASSED_OVER_MS;
  }

  return {
    /** The first that was not tried; those that could not pay lately come last. */
    next(tried: ReadonlySet<Signer>): Signer | undefined {
      const left = keys.filter((key) => !tried.has(key));
      return left.find((key) => isLongAgo(passedOverMs, key)) ?? left[0];
    },
    /** It could not pay. @returns whether to log that: once a minute at most */
    passOver(payer: Signer): boolean {
      passedOverMs.set(payer, nowMs());
      const isDue = isLongAgo(warnedMs, payer);
      if (isDue) warnedMs.set(payer, nowMs());
      return isDue;
    },
  };
}

/** Instructions as they are, or made for the fee payer that will sign, who may pay rent as well. */
export type Instructions =
  | readonly TransactionInstruction[]
  | ((feePayer: PublicKey) => readonly TransactionInstruction[]);

export interface Sending {
  /** They keep their positions: the sender adds its own behind them. */
  readonly instructions: Instructions;
  /** The signers besides the fee payer. */
  readonly signers: readonly Signer[];
  /** What the instructions may use together. */
  readonly computeUnitLimit: number;
  readonly lookup?: AddressLookupTableAccount;
  /** What kind of transaction it is: kinds alternate when they have to wait, urgent ones first. */
  readonly lane?: string;
  /** Asked when its turn comes, and again just before it is signed. */
  readonly isWanted?: () => boolean;
  /** Called each time it has gone out to a node, before that has answered. */
  readonly onSent?: () => void;
}

export type Sender = ReturnType<typeof createSender>;

const IN_FLIGHT = 'in flight' as const;
/**
 * Unless refused, a transaction may land, though no node may have passed it on. A node that refuses
 * it does not say its slot, only that it is `slot` or later.
 */
type Submission = typeof IN_FLIGHT | { readonly error: TransactionError; readonly slot: number };

/** Waiting for their turn or in flight. More would only wait longer than their blockhash lives. */
const PENDING_MAX = 4_096;
const CLOSED = 'The sender was closed';
const NO_PAYER = 'The sender has no fee payer';
/** A node that is behind its neighbours may not know a fresh blockhash yet. */
const BLOCKHASHES_TRIED_MAX = 3;
/** By so much the limit of compute units grows where it did not suffice. */
const UNITS_FACTOR = 4;

/** What a transaction may use, which is raised once where it needs more. */
interface Limits {
  readonly computeUnits: number;
  readonly loadedBytes: number;
}

/** @returns undefined where the limits are not what is at fault */
function raise({ computeUnits, loadedBytes }: Limits, { name }: Refusal): Limits | undefined {
  switch (name) {
    case 'ComputationalBudgetExceeded':
    case 'ProgramFailedToComplete':
      return { computeUnits: UNITS_FACTOR * computeUnits, loadedBytes };
    case 'MaxLoadedAccountsDataSizeExceeded':
      return { computeUnits, loadedBytes: LOADED_BYTES_MAX };
    default:
      return undefined;
  }
}

/** Where a sender logs faults that it survives; `console` will do. */
export interface SenderLog {
  warn(entry: object): void;
  error(entry: object): void;
}

/**
 * Sends transactions, and follows each until its fate is certain.
 *
 * @param options.rpc the ledger's node, as `connectRpc` gives it
 * @param options.feePayers the first pays, and another one while it cannot
 * @param options.wsUrl where the ledger notifies; without it confirmations are polled for
 * @param options.priorityFee micro-lamports per compute unit, asked for each transaction. If it
 *   fails, so does the send
 * @param options.submissionsMax how many transactions a node is given at a time. A transaction that
 *   waits at a node may outlive its blockhash; one that waits here is not signed yet
 * @param options.urgentLanes are sent before all others that wait here
 * @param options.repeatMs after which a transaction without a status is sent once more: a second by
 *   default, since nodes drop transactions under load
 * @param options.observe called with a transaction's lane when it is sent. What it returns is called
 *   with the result, `unknown` where the ledger is out of reach
 * @param options.nowMs a monotone clock in milliseconds, by which turns and pauses are measured
 * @param options.version of transactions without a lookup table; legacy by default
 */
export function createSender(options: {
  rpc: Rpc;
  feePayers: readonly Signer[];
  commitment: SenderCommitment;
  logger: SenderLog;
  wsUrl?: string;
  priorityFee?: () => Promise<number>;
  submissionsMax?: number;
  urgentLanes?: readonly string[];
  repeatMs?: number;
  observe?: (lane: string) => (status: SendResult['status'] | 'unknown') => void;
  nowMs?: () => number;
  version?: SentVersion;
}) {
  const { rpc, commitment, logger, priorityFee, observe } = options;
  const { version = 'legacy' } = options;
  const { submissionsMax = 64, urgentLanes = [], wsUrl, repeatMs } = options;
  const { nowMs = () => performance.now() } = options;
  const blockhashes = createBlockhashes(rpc);
  const confirmer = createConfirmer({ rpc, commitment, wsUrl, repeatMs });
  const laneQueue = createLaneQueue({ limit: submissionsMax, urgentLanes, nowMs });
  const feePayers = createFeePayers({ keys: options.feePayers, nowMs });
  let newestSlot = 0;
  let pending = 0;
  let closed = false;

  function assertSendable({ isWanted }: Sending): void {
    if (closed) throw new LedgerUnavailableError(CLOSED, { signature: null });
    if (isWanted?.() === false) throw new WithdrawnError('Cancelled before it was signed');
  }

  async function prepare(
    { sending, limits }: { sending: Sending; limits: Limits },
    feePayer: Signer,
    { blockhash }: Blockhash,
  ) {
    const { instructions, signers, lookup } = sending;
    const microLamports = (await priorityFee?.()) || undefined;
    // Blockhash and fee may have taken long.
    assertSendable(sending);
    const own =
      typeof instructions === 'function' ? instructions(feePayer.publicKey) : instructions;
    const bounds = { ...limits, microLamports };
    const signing = { feePayer, signers, blockhash, lookup };
    if (version === 'legacy' || lookup) {
      return signTransaction({ ...signing, instructions: [...own, ...computeBudget(bounds)] });
    }
    const config = transactionConfig(bounds);
    return signTransaction({ ...signing, version, config, instructions: [...own] });
  }

  /**
   * A notice may come before the answer to the sending, and counts as well. A node that fails to
   * answer, or refuses without a cause, decides nothing: it may have passed the transaction on.
   */
  async function submit(
    { wire, signature }: SignedTransaction,
    slot: number,
    onSent?: () => void,
  ): Promise<Submission> {
    const noticed = confirmer.expect(signature).then(() => IN_FLIGHT);
    const options = { preflightCommitment: COMMITMENT, minContextSlot: slot } as const;
    const passed = sendTransaction(rpc, wire, options).then(
      () => IN_FLIGHT,
      (error: unknown) => {
        const cause = error instanceof RpcError ? preflightErrorOf(error) : undefined;
        if (cause !== undefined) return { error: cause, slot };
        logger.warn({ msg: 'Got no answer about a sent transaction', signature, err: error });
        return IN_FLIGHT;
      },
    );
    onSent?.();
    const submission = await Promise.race([noticed, passed]);
    if (submission !== IN_FLIGHT) confirmer.forget(signature);
    return submission;
  }

  /** Sends again with a raised limit if accounts of others, such as a payout, exceed the usual. */
  async function sendAs(feePayer: Signer, sending: Sending, raised?: Limits): Promise<SendResult> {
    const { lane = '', computeUnitLimit: computeUnits } = sending;
    const limits = raised ?? { computeUnits, loadedBytes: LOADED_BYTES_USUAL };
    for (let tried = 0; tried < BLOCKHASHES_TRIED_MAX; tried += 1) {
      const { blockhash, signed, submission } = await laneQueue.run(lane, async () => {
        assertSendable(sending);
        const blockhash = await blockhashes.current();
        const signed = await prepare({ sending, limits }, feePayer, blockhash);
        const submission = await submit(
          signed,
          Math.max(blockhash.slot, newestSlot),
          sending.onSent,
        );
        return { blockhash, signed, submission };
      });
      if (submission !== IN_FLIGHT && submission.error === 'BlockhashNotFound') {
        blockhashes.forget(blockhash);
        continue;
      }
      const { lastValidBlockHeight } = blockhash;
      const result: SendResult =
        submission === IN_FLIGHT || submission.error === 'AlreadyProcessed'
          ? await confirmer.confirm({ ...signed, lastValidBlockHeight })
          : {
              ...submission,
              status: 'failed',
              signature: null,
              error: refusalOf(submission.error),
            };
      const more = result.status === 'failed' ? raise(limits, result.error) : undefined;
      return more && !raised ? sendAs(feePayer, sending, more) : result;
    }
    throw new LedgerUnavailableError('No node knows a fresh blockhash', { signature: null });
  }

  return {
    /**
     * Has another fee payer pay where one cannot. @returns the result of the last one
     *
     * @throws LedgerUnavailableError when the ledger is out of reach. With a signature, the
     *   transaction's fate is not known and has to be read once its blockhash is dead
     * @throws TransactionTooLargeError
     * @throws WithdrawnError when it is no longer wanted at its turn
     */
    async send(sending: Sending): Promise<SendResult> {
      if (closed || pending >= PENDING_MAX) {
        const message = closed ? CLOSED : 'Too many transactions wait to be sent';
        throw new LedgerUnavailableError(message, { signature: null });
      }
      const paysRent = typeof sending.instructions === 'function';
      const tried = new Set<Signer>();
      let last: SendResult | undefined;
      let end: SendResult['status'] | undefined;
      const observed = observe?.(sending.lane ?? 'none');
      pending += 1;
      try {
        for (let payer = feePayers.next(tried); payer; payer = feePayers.next(tried)) {
          tried.add(payer);
          last = await sendAs(payer, sending);
          if (last.status !== 'failed' || !isUnableToPay(last.error, paysRent)) break;
          if (!feePayers.passOver(payer)) continue;
          logger.error({
            msg: 'A fee payer could not pay',
            fee_payer: payer.publicKey.toBase58(),
            cause: last.error.name,
          });
        }
        end = last?.status;
      } finally {
        pending -= 1;
        observed?.(end ?? 'unknown');
      }
      if (!last) throw new Error(NO_PAYER);
      newestSlot = Math.max(newestSlot, last.slot);
      return last;
    },
    waitedMs: laneQueue.waitedMs,
    /** The room of a transaction that is sent next. */
    room(): Room {
      const [usual] = options.feePayers;
      if (!usual) throw new Error(NO_PAYER);
      return createRoom(version, usual.publicKey);
    },
    /** Gives up what is in flight; its fate is then not known. */
    close(): void {
      closed = true;
      confirmer.close();
    },
  };
}
