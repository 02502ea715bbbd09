import { PublicKey } from '@solana/web3.js';
import { FAILURE_REASONS } from '../../../../programs/client/generated/vocabulary.ts';
import {
  createJobId,
  type DisputeOutcome,
  disputeExpire,
  type JobStatus,
  jobClose,
  jobLock,
  modelRetire,
  PROGRAM_ID,
} from '../../../../programs/client/index.ts';
import { pass } from '../expectations.ts';
import {
  ANSWER,
  acknowledge,
  complete,
  composeLock,
  dispute,
  fail,
  jobIn,
  type LockChoice,
  lockJob,
  type Proven,
  prove,
  refund,
  settle,
} from '../jobs.ts';
import { addWorker } from '../newcomers.ts';
import {
  leave,
  pause,
  removeSpender,
  setLimits,
  setTerms,
  suspend,
  unhost,
  unlockStake,
  updateGateway,
} from '../parties.ts';
import { composeVerdict } from '../verdicts.ts';
import { CREDITS, hashOf, MODEL, modelInstruction, send, type World } from '../world.ts';
import { after, bounds, casesOf, type Row, withByte } from './row.ts';

const DAY = 86_400n;

/** A job in this status, so many seconds before. */
interface Course {
  from: JobStatus;
  seconds: bigint;
  /** In place of a fresh one. */
  job: PublicKey;
}
type Given<Input> = Partial<Input & Course>;
const jobFor = async (
  world: World,
  { from, seconds, job }: { [Field in keyof Course]?: Course[Field] | undefined },
  status: JobStatus,
) => {
  const found = job ?? (await jobIn(world, from ?? status));
  await pass(world, seconds ?? 0n);
  return found;
};
const LATE = bounds<Course>('DeadlinePassed', [['seconds', 121n, 120n]]);
const EMPTY = bounds<{ countedTokens: number }>('NothingCounted', [['countedTokens', 0, 1]]);

const price = (world: World, creditsPerRequest: number) =>
  send(world, modelInstruction(world, { creditsPerRequest }));
/** Locks all credits of the wallet, 1,000 at a time. */
const lockAll = async (world: World) => {
  await price(world, 1_000);
  for (let locked = 0n; locked < CREDITS; locked += 1_000n) await lockJob(world);
};

/** Lets the notice of a retirement pass. */
const retireNow = async (world: World) => {
  const notice = 30n * DAY;
  const retiresAt = (await world.chain.now()) + notice;
  const authority = world.authority.publicKey;
  await send(world, modelRetire({ authority, modelId: MODEL.id, retiresAt }));
  await pass(world, notice);
};

/** An id of the wallet whose Job address has another bump than the program takes. */
const drawOddId = async ({ chain, creditAccount }: World): Promise<Uint8Array> => {
  for (;;) {
    const jobId = createJobId({ nowMs: Number(await chain.now()) * 1_000, creditAccount }).bytes;
    jobId[15] = (jobId[15] as number) ^ 1;
    const seeds = [Buffer.from('job'), creditAccount.toBytes(), jobId];
    if (PublicKey.findProgramAddressSync(seeds, PROGRAM_ID)[1] !== 255) return jobId;
  }
};
const ID_AT = 8;

const ofLocks = casesOf<LockChoice & { jobId: Uint8Array; idByte: [at: number, byte: number] }>(
  'job_lock',
  async (world, { jobId, idByte, ...choice }) => {
    if (jobId === undefined) {
      const [at = 0, byte] = idByte ?? [];
      return withByte((await composeLock(world, choice)).instruction, ID_AT + at, byte);
    }
    return jobLock({
      payer: world.chain.payer.publicKey,
      signer: world.hotSigner.publicKey,
      gateway: world.gateway,
      wallet: world.wallet.publicKey,
      modelId: MODEL.id,
      jobId,
      tokenLimit: 100,
      maxCredits: 100n,
    });
  },
  [
    ['SpenderNotSet', 'a spender’s gateway left out', { gateway: null }, {}],
    [
      'SpenderNotSet',
      'a gateway that the wallet removed',
      after(removeSpender),
      ({ wallet }) => ({ signer: wallet }),
    ],
    [
      'GatewayStopped',
      'a stopped gateway',
      after(updateGateway, { stopped: true }),
      after(updateGateway),
    ],
    [
      'LocksPaused',
      'a pause of locks',
      after(pause, { locks: true }),
      after(pause, { deposits: true }),
    ],
    [
      'PriceChanged',
      'a price above the caller’s maximum',
      { tokenLimit: 2_001, maxCredits: 8n },
      { tokenLimit: 2_001, maxCredits: 9n },
    ],
    [
      'JobLimitExceeded',
      'a price above the cap of all jobs',
      after(price, 1_001),
      after(price, 1_000),
    ],
    ...bounds<LockChoice>('TokenLimitTooLarge', [
      ['tokenLimit', 0, 1],
      ['tokenLimit', MODEL.contextWindowTokens + 1, MODEL.contextWindowTokens],
    ]),
    [
      'JobLimitExceeded',
      'more than the spender’s limit per job',
      after(setLimits, { limitPerJobCredits: 11n }, { tokenLimit: 2_751 }),
      { tokenLimit: 2_750 },
    ],
    [
      'JobLimitExceeded',
      'a spender without a job, but not the wallet',
      after(setLimits, { limitPerJobCredits: 0n, limitPerDayCredits: 0n }),
      ({ wallet }) => ({ signer: wallet }),
    ],
    [
      'DayLimitExceeded',
      'more than the spender’s limit per day',
      after(setLimits, { limitPerDayCredits: 7n }),
      after(setLimits, { limitPerDayCredits: 8n }),
    ],
    ['InsufficientCredits', 'a wallet whose credits are all locked', after(lockAll)],
    [
      'ModelRetired',
      'a model in the first second of its retirement',
      after(retireNow),
      after(pass, -1n),
    ],
    ...bounds<LockChoice>('JobIdTooOld', [['idAgeMs', 90_001, 90_000]]),
    // Ids go on from the last one. A lock at 30 seconds: the closing of a job whose id is ahead.
    ...bounds<LockChoice>('JobIdInFuture', [['idAgeMs', -30_001]]),
    ['JobIdInvalid', 'an id of another UUID version', { idByte: [6, 0x40] }],
    ['JobIdInvalid', 'an id of another UUID variant', { idByte: [8, 0xc0] }],
    [
      'NonCanonicalBump',
      'an id of another bump',
      async (world) => ({ jobId: await drawOddId(world) }),
    ],
  ],
);

/** What makes a worker, or a gateway, unfit for a new attempt. */
const UNFIT: Row<Course>[] = [
  ['WorkerNotEligible', 'a suspended worker', after(suspend, true), after(suspend, false)],
  ['WorkerNotEligible', 'a worker with a token less', after(unlockStake, 1n)],
  ['WorkerNotEligible', 'a worker that left', after(leave)],
  ['WorkerDoesNotHostModel', 'a worker that hosts no such model', after(unhost)],
  [
    'GatewayStopped',
    'a new attempt of a stopped gateway',
    async (world) => {
      const job = await lockJob(world);
      await updateGateway(world, { stopped: true });
      return { job };
    },
  ],
];

type Acknowledged = Parameters<typeof acknowledge>[2];
type Completed = NonNullable<Parameters<typeof complete>[2]>;
const OUTDATED: Row<Course & { attempt: number }>[] = [
  ['AttemptNotNewer', 'attempt zero', { attempt: 0 }, { attempt: 255 }],
  ['AttemptNotNewer', 'an earlier attempt', { from: 'processing', attempt: 0 }],
];
/** A job whose second attempt the world's own worker has, and another worker. */
const contest = async (world: World) => {
  const job = await lockJob(world);
  await send(world, acknowledge(world, job, { attempt: 2 }));
  const { address, payout, proofKey } = await addWorker(world);
  return { job, attempt: 2, worker: address, workerPayout: payout, key: proofKey };
};

const ofAttempts = [
  ...casesOf<Given<Acknowledged>>(
    'job_acknowledge',
    async (world, { from, seconds, job, ...choice }) =>
      acknowledge(world, await jobFor(world, { from, seconds, job }, 'pending'), choice),
    [
      ...LATE,
      ...UNFIT,
      ...OUTDATED,
      [
        'AttemptNotNewer',
        'an equal attempt of another worker',
        async (world) => {
          const { job, worker } = await contest(world);
          return { job, worker, attempt: 2 };
        },
      ],
    ],
  ),
  ...casesOf<Given<Proven>>(
    'job_prove',
    async (world, { from, seconds, job, ...proven }) =>
      prove(world, await jobFor(world, { from, seconds, job }, 'processing'), proven),
    [
      ...LATE,
      ['ProofAlreadyGiven', 'another text', { from: 'settling', outputHash: hashOf('another') }],
      ['ProofAlreadyGiven', 'another prompt', { from: 'settling', promptTokens: 21 }],
      ['ProofAlreadyGiven', 'another count', { from: 'settling', completionTokens: 301 }],
      ['SignatureInvalid', 'another attempt', { attempt: 2 }],
    ],
  ),
  ...casesOf<Given<Completed>>(
    'job_complete',
    async (world, { from, seconds, job, ...choice }) =>
      complete(world, await jobFor(world, { from, seconds, job }, 'pending'), choice),
    [
      ...LATE,
      ...UNFIT,
      ...OUTDATED,
      ['AttemptNotNewer', 'an equal attempt of another worker', contest],
      ['ProofAlreadyGiven', 'a recorded proof', { from: 'settling' }],
      ['ProofAlreadyGiven', 'a second proof', { from: 'settling', attempt: 2 }],
      ...EMPTY,
    ],
  ),
  ...casesOf<Given<Parameters<typeof settle>[2]>>(
    'job_settle',
    async (world, { from, seconds, job, ...choice }) =>
      settle(world, await jobFor(world, { from, seconds, job }, 'settling'), choice),
    [
      ...LATE,
      ['OutputMismatch', 'another text than the proven', { deliveredHash: hashOf('another') }],
      ...EMPTY,
    ],
  ),
  ...casesOf<Given<Parameters<typeof fail>[2]> & { reasonByte?: number }>(
    'job_fail',
    async (world, { from, seconds, job, reasonByte, ...choice }) => {
      const failed = await jobFor(world, { from, seconds, job }, 'pending');
      return withByte(fail(world, failed, choice), 8, reasonByte);
    },
    [
      ...LATE,
      ...bounds<{ reasonByte: number }>('InvalidReason', [
        ['reasonByte', 0, 1],
        ['reasonByte', FAILURE_REASONS.length, FAILURE_REASONS.length - 1],
      ]),
      [
        'OutputMatches',
        'a proven text that was delivered',
        { from: 'settling', deliveredHash: ANSWER, countedTokens: 1 },
        { from: 'settling', deliveredHash: ANSWER, countedTokens: 0 },
      ],
      [
        'OutputMatches',
        'a proven text that was delivered, though no other',
        { from: 'settling', deliveredHash: ANSWER, countedTokens: 1 },
        { from: 'settling', deliveredHash: hashOf('another'), countedTokens: 1 },
      ],
    ],
  ),
];

const IN_TIME = (status: JobStatus): Row<Course> => [
  'DeadlineNotReached',
  `the last second of a job that is ${status}`,
  { from: status, seconds: 120n },
  { from: status, seconds: 121n },
];
/** Settled in its hundredth second, with an id of a minute before: the window ends last. */
const settleLate = async (world: World) => {
  const job = await jobIn(world, 'settling', { idAgeMs: 60_000 });
  await pass(world, 100n);
  await send(world, settle(world, job));
  return job;
};

const ofEnds = [
  ...casesOf<Course>(
    'job_refund',
    async (world, course) => refund(world, await jobFor(world, course, 'pending')),
    [IN_TIME('pending'), IN_TIME('processing'), IN_TIME('settling')],
  ),
  ...casesOf<Course & { rentPayer: PublicKey }>(
    'job_close',
    async (world, { rentPayer = world.chain.payer.publicKey, ...course }) =>
      jobClose({ job: await jobFor(world, course, 'failed'), rentPayer }),
    [
      ...bounds<Course>('JobNotClosable', [['seconds', 119n, 120n]]),
      [
        'JobNotClosable',
        'a job whose id is ahead, a second early',
        async (world) => ({
          job: await jobIn(world, 'failed', { idAgeMs: -30_000 }),
          seconds: 149n,
        }),
        async (world) => ({
          job: await jobIn(world, 'failed', { idAgeMs: -30_000 }),
          seconds: 150n,
        }),
      ],
      [
        'JobNotClosable',
        'a job in the last second of its dispute window',
        async (world) => ({ job: await settleLate(world), seconds: 60n }),
        async (world) => ({ job: await settleLate(world), seconds: 61n }),
      ],
      [
        'WrongRentPayer',
        'a stranger as its rent payer',
        ({ stranger }) => ({ seconds: 120n, rentPayer: stranger.publicKey }),
      ],
    ],
  ),
];

type Disputed = NonNullable<Parameters<typeof dispute>[2]>;
const byGateway = ({ hotSigner, gateway }: World) => ({ signer: hotSigner.publicKey, gateway });
/** A dispute that the controller opened. */
const openByGateway = async (world: World): Promise<{ job: PublicKey }> => {
  const job = await jobIn(world, 'settled');
  const clientHash = hashOf('a hash without a proof');
  await send(world, dispute(world, job, { ...byGateway(world), clientHash }));
  return { job };
};
/** So many disputes of the controller, and of the wallet. */
const openMany = async (world: World, ofGateway: number, ofWallet: number) => {
  for (let count = 0; count < ofGateway; count += 1) await openByGateway(world);
  for (let count = 0; count < ofWallet; count += 1) await jobIn(world, 'disputed');
};
/** Where a CreditAccount counts its open disputes. */
const OPEN_DISPUTES_AT = 134;
const countDisputes = async (world: World, openDisputesMax: number, open: number) => {
  await setTerms(world, { openDisputesMax });
  const account = await world.chain.account(world.creditAccount);
  if (account === null) throw new Error('there is no credit account');
  account.data[OPEN_DISPUTES_AT] = open;
  world.chain.setAccount(world.creditAccount, account);
};
/** A wallet's most open disputes, if its controller may open this many. */
const MOST: [openDisputesMax: number, most: number][] = [
  [127, 254],
  [128, 255],
  [255, 255],
];

const ofDisputes = casesOf<Given<Disputed>>(
  'job_dispute',
  async (world, { from, seconds, job, ...choice }) =>
    dispute(world, await jobFor(world, { from, seconds, job }, 'settled'), choice),
  [
    ...bounds<Course>('DisputeWindowClosed', [['seconds', 61n, 60n]]),
    ['HashesEqual', 'the proven text', { clientHash: ANSWER }],
    [
      'HashesEqual',
      'an amendment to the proven text',
      async (world) => ({ ...(await openByGateway(world)), clientHash: ANSWER }),
      openByGateway,
    ],
    [
      'ArbitrationClosed',
      'an amendment after the arbitration',
      async (world) => ({ ...(await openByGateway(world)), seconds: DAY + 1n }),
      async (world) => ({ ...(await openByGateway(world)), seconds: DAY }),
    ],
    [
      'DisputeLimitReached',
      'the controller’s third dispute, but not the wallet’s',
      async (world) => {
        await openMany(world, 2, 0);
        return byGateway(world);
      },
      {},
    ],
    [
      'DisputeLimitReached',
      'a wallet’s fifth dispute, two of which its controller opened',
      after((world) => openMany(world, 2, 2)),
    ],
    [
      'DisputeLimitReached',
      'a controller’s dispute beside two of the wallet',
      async (world) => {
        await openMany(world, 0, 2);
        return byGateway(world);
      },
    ],
    ...MOST.map(
      ([max, most]): Row<Given<Disputed>> => [
        'DisputeLimitReached',
        `more than ${most} disputes, where a controller may open ${max}`,
        after((world) => countDisputes(world, max, most)),
        after((world) => countDisputes(world, max, most - 1)),
      ],
    ),
  ],
);

const UPHELD = ['upheld_gateway', 'upheld_worker'] as const;
const VERDICTS = ['rejected', ...UPHELD] as const;
const ofVerdicts = [
  ...casesOf<Course & { verdict: DisputeOutcome; byte: number }>(
    'dispute_resolve',
    async (world, { verdict = 'rejected', byte, seconds = 61n, ...course }) => {
      const job = await jobFor(world, { ...course, seconds }, 'disputed');
      return withByte(await composeVerdict(world, job, verdict), 8, byte);
    },
    [
      ...VERDICTS.map(
        (verdict): Row<Course & { verdict: DisputeOutcome }> => [
          'VerdictTooEarly',
          `${verdict} while the wallet may dispute`,
          { verdict, seconds: 60n },
          { verdict, seconds: 61n },
        ],
      ),
      ...bounds<Course>('ArbitrationClosed', [['seconds', DAY + 1n, DAY]]),
      ...bounds<{ byte: number }>('InvalidVerdict', [
        ['byte', 0, 1],
        ['byte', 4],
      ]),
    ],
  ),
  ...casesOf<Course>(
    'dispute_expire',
    async (world, course) => {
      const job = await jobFor(world, course, 'disputed');
      return disputeExpire({ job, creditAccount: world.creditAccount });
    },
    bounds<Course>('ArbitrationOpen', [['seconds', DAY, DAY + 1n]]),
  ),
];

export const jobCases = [...ofLocks, ...ofAttempts, ...ofEnds, ...ofDisputes, ...ofVerdicts];
