import type { LedgerEventData } from '../../../indexer/fold/event.ts';
import {
  ARBITRATION_WINDOW_SECONDS,
  DISPUTE_WINDOW_SECONDS,
  JOB_TIMEOUT_SECONDS,
} from '../../../programs/client/generated/constants.ts';
import type { JobStatus } from '../../../programs/client/generated/vocabulary.ts';
import { addresses } from '../scene.ts';

/** What the program's accounts hold, as far as their changes depend on it; can be copied whole. */
export interface ProgramState {
  config: { sequence: bigint };
  treasury: {
    sequence: bigint;
    owedBaseUnits: bigint;
    exposureBaseUnits: bigint;
    slashedTokens: bigint;
    unpaidBaseUnits: bigint;
  };
  wallets: Map<string, CreditAccount>;
  workers: Map<string, WorkerAccount>;
  jobs: Map<string, JobAccount>;
}

export interface CreditAccount {
  wallet: string;
  creditAccount: string;
  sequence: bigint;
  availableCredits: bigint;
  lockedCredits: bigint;
  owedCredits: bigint;
  openDisputes: number;
}

export interface WorkerAccount {
  worker: string;
  sequence: bigint;
  stakeTokens: bigint;
  claimableBaseUnits: bigint;
  jobsSettled: bigint;
  hosts: boolean;
}

export interface JobAccount {
  jobId: string;
  job: string;
  wallet: string;
  worker: string;
  sequence: number;
  attempt: number;
  status: JobStatus;
  isDecided: boolean;
  isClosed: boolean;
}

/** The ledger's time, as every event begins with it. */
interface Now {
  readonly slot: string;
  readonly unixTime: string;
}

/** One instruction: changes the state and emits events, or is refused, as the program would do it. */
export type Instruction = (state: ProgramState, now: Now) => LedgerEventData | null;

export const NO_KEY = '11111111111111111111111111111111';
export const AUTHORITY = 'the authority';
export const MODEL = { address: 'a model', id: 'model', tier: 'standard' } as const;
export const PRICE = {
  creditsPerRequest: 8,
  creditsPer1kTokens: 4,
  longCompletionThresholdTokens: 500,
};
export const LOCKED_CREDITS = 8n;
export const CHARGED_CREDITS = 3n;

/** A ledger on which the program was never called. */
export function emptyState(): ProgramState {
  const none = { owedBaseUnits: 0n, exposureBaseUnits: 0n, slashedTokens: 0n, unpaidBaseUnits: 0n };
  return {
    config: { sequence: 0n },
    treasury: { sequence: 0n, ...none },
    wallets: new Map(),
    workers: new Map(),
    jobs: new Map(),
  };
}

/** The program's first instruction, and the model that all jobs ask for. */
export const opening: readonly Instruction[] = [
  ({ config, treasury }, now) => {
    config.sequence = 1n;
    treasury.sequence = 1n;
    return {
      name: 'ConfigInitialized',
      data: {
        ...{ ...now, configSequence: '1', authority: AUTHORITY, arbiter: AUTHORITY },
        ...{ creditMint: 'credit', stakeMint: 'stake', treasuryShareBasisPoints: 1_500 },
        ...{ unstakeCooldownSeconds: 172_800, openDisputesMax: 3, minimumStakeTokens: '1000' },
        ...{ slashTokens: 500, jobCreditsMax: '1000', creditAccountCreditsMax: '1000000' },
        treasuryFloorCredits: '0',
        ...{ vault: addresses.vault.toBase58(), stakeVault: addresses.stakeVault.toBase58() },
        ...{ treasuryVault: addresses.treasuryVault.toBase58(), stakeDecimals: 6 },
        jobTimeoutSeconds: JOB_TIMEOUT_SECONDS,
        disputeWindowSeconds: DISPUTE_WINDOW_SECONDS,
        arbitrationWindowSeconds: ARBITRATION_WINDOW_SECONDS,
      },
    };
  },
  (_books, now) => ({
    name: 'ModelUpserted',
    data: {
      ...{ ...now, ...PRICE, model: MODEL.address, modelSequence: '1', id: MODEL.id },
      ...{ tier: MODEL.tier, label: '8B', originator: 'somebody', contextWindowTokens: 32_768 },
      ...{ cardHash: 'ca'.repeat(32), createdAt: now.unixTime, retiresAt: '0' },
    },
  }),
];
