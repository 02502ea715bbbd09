import { Keypair, PublicKey } from '@solana/web3.js';
import * as generated from '../../../../programs/client/generated/instructions.ts';
import {
  claimPay,
  creditBuy,
  creditWithdraw,
  limitSet,
  spenderSet,
  stakeDeposit,
  stakeUnlock,
  stakeWithdraw,
  workerDeregister,
  workerHost,
  workerRegister,
  workerSuspend,
  workerUnhost,
  workerUpdate,
} from '../../../../programs/client/index.ts';
import { NO_SPENDER, UNLIMITED } from '../../../../testing/kit/setUp.ts';
import { pass } from '../expectations.ts';
import { jobIn, lockJob } from '../jobs.ts';
import {
  freeze,
  hold,
  host,
  leave,
  pause,
  removeSpender,
  setSpender,
  suspend,
  unhost,
  unlockStake,
} from '../parties.ts';
import { decide } from '../verdicts.ts';
import {
  addresses,
  CREDITS,
  MODEL,
  modelInstruction,
  SETTINGS,
  STAKE_TOKENS,
  send,
  type World,
} from '../world.ts';
import { after, bounds, casesOf } from './row.ts';

const CREDITS_MAX = 10_000_000_000_000n;
const STAKE_TOKENS_MAX = 10_000_000_000n;
/** How many credits more the wallet's account may hold. */
const ROOM = SETTINGS.creditAccountCreditsMax - CREDITS;
const COOLDOWN = BigInt(SETTINGS.unstakeCooldownSeconds);
const MODELS_MAX = 16;

interface Limits {
  limitPerJobCredits: bigint;
  limitPerDayCredits: bigint;
}
/** Without a spender. */
const UNBOUND = bounds<Limits>('ValueOutOfRange', [
  ['limitPerJobCredits', 1n, 0n],
  ['limitPerDayCredits', 1n, 0n],
]);

interface Credits {
  credits: bigint;
}
const OF_CREDITS = bounds<Credits>('ValueOutOfRange', [
  ['credits', 0n, 1n],
  ['credits', CREDITS_MAX + 1n],
]);

const ofCredits = [
  ...casesOf<Parameters<typeof generated.creditOpen>[0]>(
    'credit_open',
    ({ stranger }, changes) =>
      generated.creditOpen({
        payer: stranger.publicKey,
        wallet: Keypair.generate().publicKey,
        ...NO_SPENDER,
        ...changes,
      }),
    [
      ...UNBOUND,
      [
        'AlreadyInitialized',
        'a wallet’s second account',
        ({ wallet }) => ({ wallet: wallet.publicKey }),
      ],
      [
        'MissingSigner',
        'a spender that the wallet did not sign for',
        ({ gateway }) => ({ spender: gateway, ...UNLIMITED }),
      ],
    ],
  ),
  ...casesOf<Credits>(
    'credit_buy',
    ({ wallet, walletTokens }, { credits = 1n }) =>
      creditBuy({
        buyer: wallet.publicKey,
        buyerTokenAccount: walletTokens,
        wallet: wallet.publicKey,
        credits,
      }),
    [
      ...OF_CREDITS,
      ...bounds<Credits>('CreditAccountFull', [['credits', CREDITS_MAX]]),
      [
        'CreditAccountFull',
        'one more than the account may hold, with what is locked',
        after(lockJob, {}, { credits: ROOM + 1n }),
        { credits: ROOM },
      ],
      [
        'DepositsPaused',
        'a pause of deposits',
        after(pause, { deposits: true }),
        after(pause, { locks: true }),
      ],
    ],
  ),
  ...casesOf<Credits>(
    'credit_withdraw',
    ({ wallet, walletTokens }, { credits = 1n }) =>
      creditWithdraw({ wallet: wallet.publicKey, destination: walletTokens, credits }),
    [
      ...OF_CREDITS,
      ...bounds<Credits>('InsufficientCredits', [['credits', CREDITS_MAX]]),
      [
        'InsufficientCredits',
        'a locked credit',
        after(lockJob, {}, { credits: CREDITS - 7n }),
        { credits: CREDITS - 8n },
      ],
    ],
  ),
  ...casesOf<Parameters<typeof spenderSet>[0]>(
    'spender_set',
    ({ wallet }, changes) => spenderSet({ wallet: wallet.publicKey, ...NO_SPENDER, ...changes }),
    UNBOUND,
  ),
  ...casesOf<Limits>(
    'limit_set',
    ({ wallet }, changes) => limitSet({ wallet: wallet.publicKey, ...UNLIMITED, ...changes }),
    [
      [
        'SpenderNotSet',
        'a wallet without a spender',
        after(removeSpender),
        after((world) => setSpender(world, world.gateway)),
      ],
    ],
  ),
];

type Description = Parameters<typeof workerUpdate>[0];
const DESCRIPTIONS = [
  ...bounds<Description>('InvalidText', [
    ['endpoint', '', 'h'],
    ['endpoint', 'h'.repeat(129), 'h'.repeat(128)],
    ['endpoint', 'https://\u00e9.example'],
  ]),
  ...bounds<Description>('ValueOutOfRange', [['proofKey', PublicKey.default]]),
];
const description = ({ payout, proofKey }: World) => ({
  payout,
  proofKey: proofKey.publicKey,
  endpoint: 'https://worker.example',
});
/** The longest life of a job: timeout, dispute window and arbitration, and an hour. */
const KEY_NEEDED_SECONDS = 120n + 60n + 86_400n + 3_600n;
const changeKey = async (world: World) => {
  const proofKey = world.stranger.publicKey;
  const authority = world.workerAuthority.publicKey;
  await send(world, workerUpdate({ ...description(world), authority, proofKey }));
};

/** Adds models to the catalog and hosts all but the first, besides the one that is hosted. */
const hostMany = async (world: World) => {
  for (let index = 0; index < MODELS_MAX; index += 1) {
    await send(world, modelInstruction(world, { id: `model-${index}` }));
    if (index > 0) await host(world, `model-${index}`);
  }
};

const ofWorkers = [
  ...casesOf<Description>(
    'worker_register',
    (world, changes) =>
      workerRegister({ authority: world.stranger.publicKey, ...description(world), ...changes }),
    [
      ...DESCRIPTIONS.filter(([, , , taken]) => taken === undefined),
      [
        'AlreadyInitialized',
        'a key’s second worker',
        (world) => ({ authority: world.workerAuthority.publicKey }),
      ],
    ],
  ),
  ...casesOf<Description>(
    'worker_update',
    (world, changes) =>
      workerUpdate({
        authority: world.workerAuthority.publicKey,
        ...description(world),
        ...changes,
      }),
    [
      ...DESCRIPTIONS,
      [
        'ProofKeyInUse',
        'another proof key while a dispute may need the one before',
        async (world) => {
          await changeKey(world);
          await pass(world, KEY_NEEDED_SECONDS - 1n);
          return { proofKey: world.wallet.publicKey };
        },
        after(pass, 1n),
      ],
    ],
  ),
  ...casesOf<{ modelId: string }>(
    'worker_host',
    ({ workerAuthority }, { modelId = MODEL.id }) =>
      workerHost({ authority: workerAuthority.publicKey, modelId }),
    [
      ['AlreadyHosted', 'a model that is hosted', {}, after(unhost)],
      ['WrongAccountOwner', 'a model outside the catalog', { modelId: 'no-such-model' }],
      [
        'TooManyModels',
        'a 17th model',
        after(hostMany, {}, { modelId: 'model-0' }),
        after(unhost, 'model-15', { modelId: 'model-0' }),
      ],
      ['AlreadyHosted', 'the last of 16 models', after(hostMany, {}, { modelId: 'model-15' })],
      ['WrongWorkerStatus', 'a worker that left', after(leave)],
    ],
  ),
  ...casesOf<{ modelId: string }>(
    'worker_unhost',
    ({ workerAuthority }, { modelId = MODEL.id }) =>
      workerUnhost({ authority: workerAuthority.publicKey, modelId }),
    [
      ['NotHosted', 'a model that never was', { modelId: 'never' }, after(leave)],
      ['NotHosted', 'a model that is no more', after(unhost), after(host)],
    ],
  ),
  ...casesOf<{ suspended: boolean }>(
    'worker_suspend',
    ({ arbiter, worker }, { suspended = true }) =>
      workerSuspend({ arbiter: arbiter.publicKey, worker, suspended }),
    [
      ['WrongWorkerStatus', 'the return of an active worker', { suspended: false }, {}],
      ['WrongWorkerStatus', 'a suspended worker', after(suspend, true), { suspended: false }],
      ['WrongWorkerStatus', 'a worker that left', after(leave)],
      ['WrongWorkerStatus', 'the return of one that left', after(leave, {}, { suspended: false })],
    ],
  ),
  ...casesOf<object>(
    'worker_deregister',
    ({ workerAuthority }) => workerDeregister({ authority: workerAuthority.publicKey }),
    [['WrongWorkerStatus', 'a worker that left', after(leave)]],
  ),
];

interface Tokens {
  tokens: bigint;
}

/** The last second of the cooldown of what was unlocked, this often. */
const unlockBefore = async (world: World, times: number) => {
  for (let count = 0; count < times; count += 1) {
    await unlockStake(world, 1n);
    await pass(world, COOLDOWN - 1n);
  }
};

const ofStakes = [
  ...casesOf<Tokens & { from: PublicKey }>(
    'stake_deposit',
    ({ workerAuthority, stakeTokens, worker }, { tokens = 1n, from = stakeTokens }) =>
      stakeDeposit({
        depositor: workerAuthority.publicKey,
        depositorTokenAccount: from,
        worker,
        tokens,
      }),
    [
      ...bounds<Tokens>('ValueOutOfRange', [
        ['tokens', 0n, 1n],
        ['tokens', 2n ** 64n - 1n],
      ]),
      [
        'ValueOutOfRange',
        'more than a worker may have, with what is unstaking',
        after(unlockStake, 400n, {
          tokens: STAKE_TOKENS_MAX - STAKE_TOKENS + 1n,
        }),
        ({ token, stakeMint, workerAuthority }) => ({
          tokens: STAKE_TOKENS_MAX - STAKE_TOKENS,
          from: token(stakeMint, workerAuthority.publicKey, STAKE_TOKENS_MAX * 10n ** 9n),
        }),
      ],
      ['WrongWorkerStatus', 'a worker that left', after(leave)],
    ],
  ),
  ...casesOf<Tokens>(
    'stake_unlock',
    ({ workerAuthority }, { tokens = 1n }) =>
      stakeUnlock({ authority: workerAuthority.publicKey, tokens }),
    [
      ...bounds<Tokens>('ValueOutOfRange', [['tokens', 0n, 1n]]),
      ...bounds<Tokens>('InsufficientStake', [
        ['tokens', STAKE_TOKENS + 1n, STAKE_TOKENS],
        ['tokens', 2n ** 64n - 1n],
      ]),
    ],
  ),
  ...casesOf<object>(
    'stake_withdraw',
    ({ workerAuthority, stakeTokens }) =>
      stakeWithdraw({ authority: workerAuthority.publicKey, destination: stakeTokens }),
    [
      ['NothingToClaim', 'a stake that is not unlocked', {}],
      ['CooldownNotOver', 'its cooldown’s last second', after(unlockBefore, 1), after(pass, 1n)],
      ['CooldownNotOver', 'a later unlock’s last second', after(unlockBefore, 2), after(pass, 1n)],
    ],
  ),
];

/** 80,000 base units are owed to the wallet; of the charge the treasury had got 12,000. */
const uphold = async (world: World) =>
  decide(world, await jobIn(world, 'disputed'), 'upheld_gateway');
const upholdWith = async (world: World, baseUnits: bigint) => {
  await uphold(world);
  hold(world, addresses.treasuryVault, baseUnits);
};
/** Nothing could be paid to worker and treasury. */
const settleUnpaid = async (world: World) => {
  const thaw = await freeze(world, addresses.vault);
  await jobIn(world, 'settled');
  thaw();
};

const ofClaims = casesOf<{ claimant: PublicKey; payout: PublicKey }>(
  'claim_pay',
  ({ creditAccount }, changes) => claimPay({ claimant: creditAccount, ...changes }),
  [
    ['NothingToClaim', 'a wallet that is owed nothing', {}, after(uphold)],
    [
      'NothingToClaim',
      'less than a credit in the treasury',
      after(upholdWith, 9_999n),
      after((world) => hold(world, addresses.treasuryVault, 10_000n)),
    ],
    [
      'NothingToClaim',
      'a worker that was paid',
      ({ worker, payout }) => ({ claimant: worker, payout }),
    ],
    ['NothingToClaim', 'a treasury that was paid', { claimant: addresses.treasury }],
    [
      'PayeeUnavailable',
      'a worker whose payee is frozen',
      async (world) => {
        await settleUnpaid(world);
        await freeze(world, world.payout);
        return { claimant: world.worker, payout: world.payout };
      },
    ],
    [
      'WrongAddress',
      'a payee that is not the worker’s',
      async (world) => {
        await settleUnpaid(world);
        return { claimant: world.worker, payout: addresses.treasuryVault };
      },
      ({ worker, payout }) => ({ claimant: worker, payout }),
    ],
    [
      'PayeeUnavailable',
      'a treasury whose vault is frozen',
      async (world) => {
        await settleUnpaid(world);
        await freeze(world, addresses.treasuryVault);
        return { claimant: addresses.treasury };
      },
    ],
    ['WrongDiscriminator', 'a gateway as the claimant', ({ gateway }) => ({ claimant: gateway })],
  ],
);

export const accountCases = [...ofCredits, ...ofWorkers, ...ofStakes, ...ofClaims];
