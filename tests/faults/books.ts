import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { coder, fromCoder } from '../../testing/ledger/anchorCoder.ts';
import type { RunningService } from '../../testing/service/runningService.ts';
import { type Received, sha256Hex } from './client.ts';

/** A job as its raw account has it, read with Anchor's decoder in place of the service's own. */
export interface JobAccount {
  id: string;
  address: string;
  status: string;
  creditAccount: string;
  worker: string;
  attempt: number;
  chargedCredits: bigint;
  lockedCredits: bigint;
  outputHash: string;
  promptTokens: number;
  completionTokens: number;
}

interface WalletAccount {
  availableCredits: bigint;
  lockedCredits: bigint;
}

interface WorkerAccount {
  status: string;
  /** Staked, or on its way out. */
  stakeTokens: bigint;
}

/** The raw state of the ledger at one moment. */
export interface LedgerState {
  jobs: JobAccount[];
  /** By address of the CreditAccount. */
  wallets: Map<string, WalletAccount>;
  /** By address of the Worker. */
  workers: Map<string, WorkerAccount>;
}

// biome-ignore lint/suspicious/noExplicitAny: the fields are those of the IDL's account
type Fields = Record<string, any>;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Reads every account of the program, without any code of the service. */
export async function readLedger(service: RunningService): Promise<LedgerState> {
  const { connection } = service.ledger;
  const decodeAll = async (kind: string): Promise<[address: string, Fields][]> => {
    const found = await connection.getProgramAccounts(PROGRAM_ID, {
      commitment: 'confirmed',
      filters: [{ memcmp: coder.accounts.memcmp(kind) as { offset: number; bytes: string } }],
    });
    return found.map(({ pubkey, account }) => [
      pubkey.toBase58(),
      fromCoder(coder.accounts.decode(kind, account.data)),
    ]);
  };
  const [jobs, wallets, workers] = await Promise.all([
    decodeAll('Job'),
    decodeAll('CreditAccount'),
    decodeAll('Worker'),
  ]);
  return {
    jobs: jobs.map(([address, job]) => ({
      id: `job_${hex(job.jobId)}`,
      address,
      status: job.status,
      creditAccount: String(job.creditAccount),
      worker: String(job.worker),
      attempt: job.attempt,
      chargedCredits: BigInt(job.chargedCredits),
      lockedCredits: BigInt(job.lockedCredits),
      outputHash: hex(job.outputHash),
      promptTokens: job.promptTokens,
      completionTokens: job.completionTokens,
    })),
    wallets: new Map(
      wallets.map(([address, { availableCredits, lockedCredits }]) => [
        address,
        { availableCredits, lockedCredits },
      ]),
    ),
    workers: new Map(
      workers.map(([address, { status, stakeTokens, unstakingTokens }]) => [
        address,
        { status, stakeTokens: stakeTokens + unstakingTokens },
      ]),
    ),
  };
}

export const isOpen = ({ status }: JobAccount): boolean =>
  ['pending', 'processing', 'settling'].includes(status);

/** What the price table of the model says about so many tokens. */
function priceOf(tokens: number): bigint {
  const CREDITS_PER_REQUEST = 8n;
  const THRESHOLD_TOKENS = 500;
  const CREDITS_PER_1K_TOKENS = 4n;
  if (tokens <= THRESHOLD_TOKENS) return CREDITS_PER_REQUEST;
  return (BigInt(tokens) * CREDITS_PER_1K_TOKENS + 999n) / 1_000n;
}

/** What a wallet's clients received in a round, and what it had before. */
export interface WalletBook {
  /** The address of its account on the ledger. */
  creditAccount: string;
  availableBefore: bigint;
  received: readonly Received[];
  /**
   * Whether its API process was killed, or the clock moved past the last moment to settle. A stream
   * that was whole just before may stay unpaid.
   */
  mayBeUnpaid: boolean;
  onUnpaid(): void;
}

/** What the ledger took from a wallet against what its clients got. @returns each violation */
export function auditWallet(book: WalletBook, state: LedgerState): string[] {
  const { creditAccount } = book;
  const jobs = state.jobs.filter((job) => job.creditAccount === creditAccount);
  const now = state.wallets.get(creditAccount);
  const violations: string[] = [];
  const violate = (what: string): void =>
    void violations.push(`${what}; received ${JSON.stringify(book.received)}`);

  const charged = jobs.reduce((sum, { chargedCredits }) => sum + chargedCredits, 0n);
  if (!now) return ['the credit account is gone'];
  if (now.lockedCredits !== 0n) violate(`${now.lockedCredits} credits stayed locked`);
  if (now.availableCredits + charged !== book.availableBefore) {
    violate(
      `${book.availableBefore} credits became ${now.availableCredits} with ${charged} charged`,
    );
  }
  // All that a wallet's client does in a round is one request, however often it is repeated.
  const paid = jobs.filter(({ chargedCredits }) => chargedCredits > 0n).length;
  if (paid > 1) violate(`one request was charged ${paid} times`);
  for (const job of jobs) {
    if (isOpen(job)) violate(`job ${job.id} is still ${job.status}`);
    if (job.chargedCredits > job.lockedCredits) violate(`job ${job.id} costs more than its lock`);
    const answers = book.received.filter(({ jobId }) => jobId === job.id);
    const whole = answers.find(({ outcome }) => outcome === 'whole');
    const left = book.received.some(
      ({ outcome, jobId }) => outcome === 'left' && (jobId ?? job.id) === job.id,
    );
    const isUnpaid = book.mayBeUnpaid && job.status === 'refunded';
    if (whole && isUnpaid) book.onUnpaid();
    else if (whole) {
      if (job.status !== 'settled') violate(`job ${job.id} was answered and is ${job.status}`);
      if (sha256Hex(whole.text) !== job.outputHash) violate(`job ${job.id} proved another text`);
      const price = priceOf(whole.completionTokens ?? 0);
      if (job.chargedCredits !== price) {
        violate(`job ${job.id} cost ${job.chargedCredits} credits in place of ${price}`);
      }
    } else if (job.chargedCredits > 0n && !left) {
      violate(`job ${job.id} cost ${job.chargedCredits} credits without a whole answer`);
    }
  }
  for (const { outcome, jobId } of book.received) {
    if (outcome === 'whole' && !jobs.some(({ id }) => id === jobId)) {
      violate(`an answer came for ${jobId}, which the ledger does not have`);
    }
  }
  return violations;
}
