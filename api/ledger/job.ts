import type { PublicKey } from '@solana/web3.js';
import { creditsNumber } from '../../common/format.ts';
import { affordableTokens, type Price } from '../../programs/client/pricing.ts';
import { ApiError } from '../contracts/errors.ts';
import type { Payer } from '../sql/accounts.ts';
import type { ModelRow } from '../sql/workers.ts';
import type { JobDeadlines } from './deadlines.ts';

/** What a request may cost at most, at the model's present price. */
export interface Quote {
  model: ModelRow;
  /** The most output tokens the worker may produce. */
  tokenLimit: number;
  lockCredits: bigint;
}

/** What the model charges now. */
export function priceOf(model: ModelRow): Price {
  return {
    creditsPerRequest: model.credits_per_request,
    creditsPer1kTokens: model.credits_per_1k_tokens,
    longCompletionThresholdTokens: model.long_completion_threshold_tokens,
  };
}

/** Who pays for a lock, with the sequence of the account's last known change. */
export type LockPayer = Pick<Payer, 'wallet' | 'sequence'>;

/** A job that may come to be: its id is known before its lock is sent. */
export interface JobDraft {
  /** `job_…` */
  id: string;
  bytes: Uint8Array;
  address: PublicKey;
  creditAccount: PublicKey;
}

/** A job whose credits are locked, and what the API keeps of it while it runs. */
export interface LockedJob {
  /** `job_…` */
  id: string;
  address: PublicKey;
  creditAccount: PublicKey;
  wallet: string;
  model: ModelRow;
  tokenLimit: number;
  lockCredits: bigint;
  escrowTx: string;
  lockedAtLatest: bigint;
  deadlines: JobDeadlines;
}

/** The refusal of a request whose lock costs more than the wallet has. */
export function insufficientCredits(quoted: Quote, availableCredits: bigint): ApiError {
  const { model } = quoted;
  const affordable = Math.min(
    affordableTokens(priceOf(model), availableCredits),
    model.context_window_tokens,
  );
  const remedy =
    affordable > 0
      ? `Ask for \`max_tokens\` of at most ${affordable}, or buy credits`
      : `No request of ${model.id} is affordable. Buy credits`;
  return new ApiError(
    'insufficient_credits',
    `This request has to lock ${quoted.lockCredits} credits and ${availableCredits} are available. ` +
      `${remedy} in the web app, or with \`svc credits buy\` (/packages/ has svc).`,
    {
      details: {
        credits_remaining: creditsNumber(availableCredits),
        credits_required: creditsNumber(quoted.lockCredits),
        tier: model.tier,
        affordable_max_tokens: affordable,
      },
    },
  );
}
