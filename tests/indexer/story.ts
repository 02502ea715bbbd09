import { createHash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import type { LedgerEvent, LedgerEventData, LedgerTransaction } from '../../indexer/decode.ts';
import { createAddresses } from '../../programs/client/addresses.ts';

/** Addresses of the program that the story is about. */
export const addresses = createAddresses();

/** A key that is the same in every run. */
export function key(name: string): string {
  return new PublicKey(createHash('sha256').update(name).digest()).toBase58();
}

const HASH = 'ab'.repeat(32);

/** What happened on a ledger, told event by event. Sequences count themselves. */
export function createStory() {
  const sequences = new Map<string, number>();
  const transactions: LedgerTransaction[] = [];
  let unixTime = 1_800_000_000;

  const next = (account: string): number => {
    const sequence = (sequences.get(account) ?? 0) + 1;
    sequences.set(account, sequence);
    return sequence;
  };
  const text = (account: string): string => next(account).toString();
  const now = (): { slot: string; unixTime: string } => ({
    slot: (transactions.length + 1).toString(),
    unixTime: (unixTime + transactions.length).toString(),
  });

  const treasury = addresses.treasury.toBase58();
  const config = addresses.config.toBase58();
  const wallet = key('wallet');
  const creditAccount = key('credit account');
  const worker = key('worker');
  const model = key('model');
  const balance = { available: 1_000, locked: 0, owed: 0, openDisputes: 0 };
  const books = { exposure: 0, owed: 0, unpaid: 0, slashed: 0 };
  let jobsSettled = 0;
  let claimable = 0;

  /** What the events that unlock a job's credits have in common. */
  function unlocking(job: string, locked: number, charged: number) {
    balance.locked -= locked;
    balance.available += locked - charged;
    return {
      ...now(),
      ...ofJob(job),
      creditAccount,
      creditSequence: text(creditAccount),
      wallet,
      returnedCredits: (locked - charged).toString(),
      availableCredits: balance.available.toString(),
      accountLockedCredits: balance.locked.toString(),
    };
  }

  function ofJob(job: string) {
    const jobId = createHash('sha256').update(job).digest('hex').slice(0, 32);
    return { job: key(job), jobSequence: next(key(job)), jobId };
  }

  function ofDispute(job: string) {
    return {
      ...now(),
      ...ofJob(job),
      creditAccount,
      creditSequence: text(creditAccount),
      wallet,
      treasurySequence: text(treasury),
      openDisputes: balance.openDisputes,
      disputedExposureBaseUnits: books.exposure.toString(),
    };
  }

  const settings = {
    authority: key('authority'),
    arbiter: key('arbiter'),
    creditMint: key('credit mint'),
    stakeMint: key('stake mint'),
    treasuryShareBasisPoints: 1_500,
    unstakeCooldownSeconds: 172_800,
    openDisputesMax: 5,
    minimumStakeTokens: '1000',
    slashTokens: 500,
    jobCreditsMax: '100000',
    creditAccountCreditsMax: '1000000000',
  };

  const verbs = {
    configInitialized: (): LedgerEventData => {
      next(treasury);
      return {
        name: 'ConfigInitialized',
        data: {
          ...now(),
          ...settings,
          configSequence: text(config),
          vault: key('vault'),
          treasuryVault: key('treasury vault'),
          stakeVault: key('stake vault'),
          stakeDecimals: 6,
          jobTimeoutSeconds: 120,
          disputeWindowSeconds: 60,
          arbitrationWindowSeconds: 86_400,
        },
      };
    },
    configUpdated: (): LedgerEventData => ({
      name: 'ConfigUpdated',
      data: {
        ...now(),
        ...settings,
        treasuryShareBasisPoints: 1_000,
        configSequence: text(config),
      },
    }),
    authorityProposed: (): LedgerEventData => ({
      name: 'AuthorityProposed',
      data: {
        ...now(),
        configSequence: text(config),
        authority: key('authority'),
        pendingAuthority: key('new authority'),
      },
    }),
    authorityAccepted: (): LedgerEventData => ({
      name: 'AuthorityAccepted',
      data: { ...now(), configSequence: text(config), authority: key('new authority') },
    }),
    pauseSet: (): LedgerEventData => ({
      name: 'PauseSet',
      data: { ...now(), configSequence: text(config), depositsPaused: true, locksPaused: false },
    }),
    gatewayOpened: (): LedgerEventData => ({
      name: 'GatewayOpened',
      data: {
        ...now(),
        gateway: key('gateway'),
        gatewaySequence: text(key('gateway')),
        operator: key('operator'),
        signers: [key('hot signer')],
        stopped: false,
      },
    }),
    gatewayUpdated: (): LedgerEventData => ({
      name: 'GatewayUpdated',
      data: {
        ...now(),
        gateway: key('gateway'),
        gatewaySequence: text(key('gateway')),
        operator: key('operator'),
        signers: [],
        stopped: true,
      },
    }),
    modelUpserted: (creditsPerRequest = 8): LedgerEventData => ({
      name: 'ModelUpserted',
      data: {
        ...now(),
        model,
        modelSequence: text(model),
        id: 'qwen3-8b',
        tier: 1,
        label: '8B',
        originator: 'Qwen',
        contextWindowTokens: 32_768,
        creditsPerRequest,
        creditsPer1kTokens: 4,
        longCompletionThresholdTokens: 500,
        createdAt: '1800000000',
        retiresAt: '0',
      },
    }),
    modelRetired: (): LedgerEventData => ({
      name: 'ModelRetired',
      data: {
        ...now(),
        model,
        modelSequence: text(model),
        id: 'qwen3-8b',
        retiresAt: '1900000000',
      },
    }),
    creditOpened: (): LedgerEventData => ({
      name: 'CreditOpened',
      data: {
        ...now(),
        creditAccount,
        creditSequence: text(creditAccount),
        wallet,
        spender: PublicKey.default.toBase58(),
      },
    }),
    creditBought: (): LedgerEventData => ({
      name: 'CreditBought',
      data: {
        ...now(),
        creditAccount,
        creditSequence: text(creditAccount),
        wallet,
        buyer: wallet,
        credits: '1000',
        availableCredits: balance.available.toString(),
        lockedCredits: balance.locked.toString(),
      },
    }),
    spenderSet: (): LedgerEventData => ({
      name: 'SpenderSet',
      data: {
        ...now(),
        creditAccount,
        creditSequence: text(creditAccount),
        wallet,
        spender: key('gateway'),
      },
    }),
    limitSet: (): LedgerEventData => ({
      name: 'LimitSet',
      data: {
        ...now(),
        creditAccount,
        creditSequence: text(creditAccount),
        wallet,
        limitPerJobCredits: '50',
        limitPerDayCredits: '18446744073709551615',
      },
    }),
    creditWithdrawn: (): LedgerEventData => {
      balance.available -= 10;
      return {
        name: 'CreditWithdrawn',
        data: {
          ...now(),
          creditAccount,
          creditSequence: text(creditAccount),
          wallet,
          destination: key('purse'),
          credits: '10',
          availableCredits: balance.available.toString(),
          lockedCredits: balance.locked.toString(),
        },
      };
    },
    workerRegistered: (): LedgerEventData => ({
      name: 'WorkerRegistered',
      data: {
        ...now(),
        worker,
        workerSequence: text(worker),
        authority: key('worker authority'),
        proofKey: key('proof key'),
        payout: key('payout'),
        endpoint: 'http://127.0.0.1:9',
      },
    }),
    stakeDeposited: (): LedgerEventData => ({
      name: 'StakeDeposited',
      data: {
        ...now(),
        worker,
        workerSequence: text(worker),
        tokens: '1000',
        stakeTokens: '1000',
        unstakingTokens: '0',
        unstakeReadyAt: '0',
      },
    }),
    workerHosted: (): LedgerEventData => ({
      name: 'WorkerHosted',
      data: { ...now(), worker, workerSequence: text(worker), model },
    }),
    workerUnhosted: (): LedgerEventData => ({
      name: 'WorkerUnhosted',
      data: { ...now(), worker, workerSequence: text(worker), model },
    }),
    workerSuspended: (): LedgerEventData => ({
      name: 'WorkerSuspended',
      data: { ...now(), worker, workerSequence: text(worker), suspended: true },
    }),
    jobLocked: (job: string): LedgerEventData => {
      balance.available -= 8;
      balance.locked += 8;
      return {
        name: 'JobLocked',
        data: {
          ...now(),
          ...ofJob(job),
          creditAccount,
          creditSequence: text(creditAccount),
          wallet,
          controller: key('gateway'),
          model,
          modelId: 'qwen3-8b',
          tier: 1,
          tokenLimit: 0xffff_ffff,
          creditsPerRequest: 8,
          creditsPer1kTokens: 4,
          longCompletionThresholdTokens: 500,
          treasuryShareBasisPoints: 1_500,
          slashTokens: 500,
          jobTimeoutSeconds: 120,
          disputeWindowSeconds: 60,
          arbitrationWindowSeconds: 86_400,
          rentPayer: key('fee payer'),
          lockedCredits: '8',
          availableCredits: balance.available.toString(),
          accountLockedCredits: balance.locked.toString(),
          spentDay: 20_000,
          spentTodayCredits: '8',
        },
      };
    },
    jobAcknowledged: (job: string, attempt = 1): LedgerEventData => ({
      name: 'JobAcknowledged',
      data: { ...now(), ...ofJob(job), worker, attempt },
    }),
    jobProven: (job: string): LedgerEventData => ({
      name: 'JobProven',
      data: {
        ...now(),
        ...ofJob(job),
        worker,
        attempt: 1,
        outputHash: HASH,
        promptTokens: 0xffff_ffff,
        completionTokens: 40,
      },
    }),
    /** @param isPaid false: worker and treasury could not be paid, and their shares are noted down */
    jobSettled: (job: string, isPaid = true): LedgerEventData => {
      jobsSettled += 1;
      if (!isPaid) claimable += 68_000;
      if (!isPaid) books.unpaid += 12_000;
      return {
        name: 'JobSettled',
        data: {
          ...unlocking(job, 8, 8),
          worker,
          workerSequence: text(worker),
          settledBy: key('hot signer'),
          outputHash: HASH,
          promptTokens: 12,
          completionTokens: 40,
          countedTokens: 39,
          chargedCredits: '8',
          workerBaseUnits: '68000',
          workerPaid: isPaid,
          treasuryBaseUnits: '12000',
          treasuryPaid: isPaid,
          workerClaimableBaseUnits: claimable.toString(),
          jobsSettled: jobsSettled.toString(),
          treasurySequence: isPaid ? (sequences.get(treasury) ?? 0).toString() : text(treasury),
          treasuryUnpaidBaseUnits: books.unpaid.toString(),
        },
      };
    },
    jobFailed: (job: string): LedgerEventData => ({
      name: 'JobFailed',
      data: { ...unlocking(job, 8, 0), reason: 1 },
    }),
    jobRefunded: (job: string): LedgerEventData => ({
      name: 'JobRefunded',
      data: unlocking(job, 8, 0),
    }),
    jobDisputed: (job: string): LedgerEventData => {
      balance.openDisputes += 1;
      books.exposure += 80_000;
      return {
        name: 'JobDisputed',
        data: {
          ...ofDispute(job),
          worker,
          clientHash: 'cd'.repeat(32),
          outputHash: HASH,
          chargedCredits: '8',
          arbitrationEndsAt: '1800086400',
        },
      };
    },
    /** The worker is convicted: all of its stake but 500 tokens is left, and the wallet is owed. */
    disputeUpheld: (job: string): LedgerEventData => {
      balance.openDisputes -= 1;
      balance.owed += 8;
      books.exposure -= 80_000;
      books.owed += 80_000;
      books.slashed += 500;
      return {
        name: 'DisputeResolved',
        data: {
          ...ofDispute(job),
          worker,
          workerSequence: text(worker),
          verdict: 3,
          evidenceHash: HASH,
          repaidCredits: '8',
          owedCredits: balance.owed.toString(),
          owedBaseUnits: books.owed.toString(),
          slashedTokens: '500',
          slashedStakeTokens: books.slashed.toString(),
          stakeTokens: '500',
          unstakingTokens: '0',
        },
      };
    },
    disputeExpired: (job: string): LedgerEventData => {
      balance.openDisputes -= 1;
      books.exposure -= 80_000;
      return { name: 'DisputeExpired', data: ofDispute(job) };
    },
    jobClosed: (job: string): LedgerEventData => ({
      name: 'JobClosed',
      data: { ...now(), ...ofJob(job), rentPayer: key('fee payer'), rentLamports: '3000000' },
    }),
    workerClaimPaid: (): LedgerEventData => {
      const baseUnits = claimable.toString();
      claimable = 0;
      return claim(worker, 1, baseUnits);
    },
    walletClaimPaid: (): LedgerEventData => {
      const baseUnits = (balance.owed * 10_000).toString();
      balance.available += balance.owed;
      balance.owed = 0;
      books.owed = 0;
      return claim(creditAccount, 0, baseUnits, balance.available);
    },
    treasuryClaimPaid: (): LedgerEventData => {
      const baseUnits = books.unpaid.toString();
      books.unpaid = 0;
      return claim(treasury, 2, baseUnits);
    },
  };

  function claim(
    claimant: string,
    claimantKind: number,
    baseUnits: string,
    available = 0,
  ): LedgerEventData {
    const claimantSequence = text(claimant);
    return {
      name: 'ClaimPaid',
      data: {
        ...now(),
        claimant,
        claimantKind,
        claimantSequence,
        treasurySequence:
          claimantKind === 0 ? text(treasury) : (sequences.get(treasury) ?? 0).toString(),
        baseUnits,
        credits: '0',
        remainingBaseUnits: '0',
        owedBaseUnits: books.owed.toString(),
        unpaidBaseUnits: books.unpaid.toString(),
        availableCredits: available.toString(),
      },
    };
  }

  return {
    ...verbs,
    transactions,
    /** Lets time pass on the ledger. */
    wait(seconds: number) {
      unixTime += seconds;
    },
    /** One transaction with these events, each of its own instruction, in a slot of its own. */
    transaction(...events: LedgerEventData[]): LedgerTransaction {
      const signature = `signature ${transactions.length + 1}`;
      const slot = BigInt(transactions.length + 1);
      const placed = events.map(
        (event, instructionIndex) =>
          ({ ...event, signature, slot, instructionIndex, innerIndex: 0 }) as LedgerEvent,
      );
      const transaction = { signature, slot, events: placed };
      transactions.push(transaction);
      return transaction;
    },
  };
}
