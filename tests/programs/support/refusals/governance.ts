import { Keypair, PublicKey } from '@solana/web3.js';
import { TIERS } from '../../../../programs/client/generated/vocabulary.ts';
import {
  authorityAccept,
  authorityPropose,
  type ConfigSettings,
  configUpdate,
  gatewayOpen,
  gatewayUpdate,
  modelRetire,
  slashBurn,
  treasuryWithdraw,
} from '../../../../programs/client/index.ts';
import type { ModelOffer } from '../../../../testing/kit/setUp.ts';
import { pass } from '../expectations.ts';
import { jobIn } from '../jobs.ts';
import { hold, setTerms } from '../parties.ts';
import { decide } from '../verdicts.ts';
import {
  addresses,
  createBareWorld,
  initializeInstruction,
  MODEL,
  modelInstruction,
  SETTINGS,
  send,
  type World,
} from '../world.ts';
import { after, bounds, casesOf, type Row, withByte } from './row.ts';

const DAY = 86_400n;
const CREDITS_MAX = 10_000_000_000_000n;
const STAKE_TOKENS_MAX = 10_000_000_000n;
/** Timeout, dispute window and arbitration window, and an hour. */
const COOLDOWN_SECONDS_MIN = 120 + 60 + 86_400 + 3_600;
const COOLDOWN_SECONDS_MAX = 30 * 86_400;
/** A lowered floor of the treasury counts for so long. */
const NOTICE_SECONDS = 26n * 3_600n;

const keys = (count: number): PublicKey[] =>
  Array.from({ length: count }, () => Keypair.generate().publicKey);

interface Mints {
  creditMint: PublicKey;
  stakeMint: PublicKey;
}

const ofConfig = [
  ...casesOf<ConfigSettings & Mints>(
    'config_initialize',
    (world, { creditMint = world.creditMint, stakeMint = world.stakeMint, ...terms }) =>
      initializeInstruction({ ...world, creditMint, stakeMint }, terms),
    [
      ...bounds<ConfigSettings>('ValueOutOfRange', [['openDisputesMax', 0, 1]]),
      [
        'AlreadyInitialized',
        'a second time',
        after((world) => send(world, initializeInstruction(world))),
      ],
      ['DuplicateAccount', 'one mint for both', ({ creditMint }) => ({ stakeMint: creditMint })],
      [
        'WrongMint',
        'a stablecoin of nine decimals',
        ({ stakeMint }) => ({ creditMint: stakeMint }),
      ],
      ['WrongMint', 'a key as a mint', ({ stranger }) => ({ creditMint: stranger.publicKey })],
      ['WrongMint', 'tokens as a mint', ({ walletTokens }) => ({ stakeMint: walletTokens })],
      [
        'WrongMint',
        'stakes of ten decimals',
        ({ chain, stranger }) => {
          chain.setMint(stranger.publicKey, 10);
          return { stakeMint: stranger.publicKey };
        },
      ],
      [
        'WrongMint',
        'a mint of another token program',
        async ({ chain, creditMint, stranger, wallet }) => {
          const mint = await chain.account(creditMint);
          if (mint) chain.setAccount(stranger.publicKey, { ...mint, owner: wallet.publicKey });
          return { creditMint: stranger.publicKey };
        },
      ],
    ],
    createBareWorld,
  ),
  ...casesOf<ConfigSettings>(
    'config_update',
    ({ authority, arbiter }, terms) =>
      configUpdate({
        authority: authority.publicKey,
        arbiter: arbiter.publicKey,
        ...SETTINGS,
        ...terms,
      }),
    [
      ['ValueOutOfRange', 'no arbiter', { arbiter: PublicKey.default }],
      [
        'ValueOutOfRange',
        'the authority as the arbiter',
        ({ authority }) => ({ arbiter: authority.publicKey }),
        ({ stranger }) => ({ arbiter: stranger.publicKey }),
      ],
      ...bounds<ConfigSettings>('ValueOutOfRange', [
        ['treasuryShareBasisPoints', 10_001, 10_000],
        ['unstakeCooldownSeconds', COOLDOWN_SECONDS_MIN - 1, COOLDOWN_SECONDS_MIN],
        ['unstakeCooldownSeconds', COOLDOWN_SECONDS_MAX + 1, COOLDOWN_SECONDS_MAX],
        ['openDisputesMax', 0, 1],
        // A slash is at most the minimum stake.
        ['slashTokens', 1_001, 1_000],
        ['minimumStakeTokens', 499n, 500n],
        ['minimumStakeTokens', STAKE_TOKENS_MAX + 1n, STAKE_TOKENS_MAX],
        ['jobCreditsMax', 0n, 1n],
        ['jobCreditsMax', CREDITS_MAX + 1n, CREDITS_MAX],
        ['creditAccountCreditsMax', 0n, 1n],
        ['creditAccountCreditsMax', CREDITS_MAX + 1n, CREDITS_MAX],
        ['treasuryFloorCredits', CREDITS_MAX + 1n, CREDITS_MAX],
      ]),
      [
        'ValueOutOfRange',
        'no minimum stake',
        { minimumStakeTokens: 0n, slashTokens: 0 },
        { minimumStakeTokens: 1n, slashTokens: 0 },
      ],
    ],
  ),
];

const propose = (world: World, pendingAuthority: PublicKey) =>
  send(world, authorityPropose({ authority: world.authority.publicKey, pendingAuthority }));
const proposeStranger = (world: World) => propose(world, world.stranger.publicKey);

const ofAuthority = [
  ...casesOf<{ pendingAuthority: PublicKey }>(
    'authority_propose',
    ({ authority, stranger }, { pendingAuthority = stranger.publicKey }) =>
      authorityPropose({ authority: authority.publicKey, pendingAuthority }),
    [
      [
        'ValueOutOfRange',
        'the arbiter',
        (world) => ({ pendingAuthority: world.arbiter.publicKey }),
      ],
    ],
  ),
  ...casesOf<object>(
    'authority_accept',
    ({ stranger }) => authorityAccept({ pendingAuthority: stranger.publicKey }),
    [
      ['NoPendingAuthority', 'a key without a proposal', {}, after(proposeStranger)],
      [
        'ValueOutOfRange',
        'a key that became the arbiter since',
        after(async (world) => {
          await proposeStranger(world);
          await setTerms(world, { arbiter: world.stranger.publicKey });
        }),
      ],
    ],
  ),
];

const ofGateways = [
  ...casesOf<{ signers: PublicKey[] }>(
    'gateway_open',
    ({ stranger }, { signers = keys(1) }) =>
      gatewayOpen({ payer: stranger.publicKey, operator: stranger.publicKey, signers }),
    [
      ['ValueOutOfRange', 'no signer', { signers: [] }],
      ['ValueOutOfRange', 'nine signers', { signers: keys(9) }, { signers: keys(8) }],
      ['ValueOutOfRange', 'the zero key', { signers: [PublicKey.default] }],
      [
        'DuplicateAccount',
        'a signer twice',
        ({ wallet }) => ({ signers: [wallet.publicKey, ...keys(2), wallet.publicKey] }),
      ],
      [
        'AlreadyInitialized',
        'an operator’s second gateway',
        after((world) => {
          const by = { payer: world.stranger.publicKey, operator: world.stranger.publicKey };
          return send(world, gatewayOpen({ ...by, signers: keys(1) }));
        }),
      ],
    ],
  ),
  ...casesOf<{ signers: PublicKey[] }>(
    'gateway_update',
    ({ operator }, { signers = [] }) =>
      gatewayUpdate({ operator: operator.publicKey, signers, stopped: false }),
    [
      ['ValueOutOfRange', 'nine signers', { signers: keys(9) }, { signers: keys(8) }],
      ['ValueOutOfRange', 'the zero key', { signers: [...keys(1), PublicKey.default] }, {}],
      [
        'DuplicateAccount',
        'a signer twice',
        ({ wallet }) => ({ signers: [wallet.publicKey, wallet.publicKey] }),
      ],
    ],
  ),
];

/** Behind the discriminator, and the id with its length. */
const TIER_AT = 8 + 4 + MODEL.id.length;

type Offer = ModelOffer & { tierByte: number };

const ofModels = [
  ...casesOf<Offer>(
    'model_upsert',
    (world, { tierByte, ...offer }) => withByte(modelInstruction(world, offer), TIER_AT, tierByte),
    [
      ...bounds<Offer>('ValueOutOfRange', [
        ['contextWindowTokens', 0, 1],
        ['creditsPerRequest', 0, 1],
        ['creditsPer1kTokens', 0, 1],
        ['tierByte', TIERS.length, TIERS.length - 1],
      ]),
      // Each of the 256 bytes: programs/escrow/tests/text.rs.
      ...bounds<Offer>('InvalidText', [
        ['label', '', 'x'],
        ['label', 'x'.repeat(17), 'x'.repeat(16)],
        ['originator', '', 'x'],
        ['originator', 'x'.repeat(33), 'x'.repeat(32)],
        ['originator', 'Caf\u00e9'],
        ['id', ''],
        ['id', 'x'.repeat(65), '~ '.repeat(32)],
      ]),
      [
        'AlreadyInitialized',
        'an address that another program owns',
        ({ chain, stranger }) => {
          const held = { lamports: 1_000_000, data: new Uint8Array(1), executable: false };
          chain.setAccount(addresses.model('another'), { ...held, owner: stranger.publicKey });
          return { id: 'another' };
        },
      ],
    ],
  ),
  ...casesOf<{ seconds: bigint; retiresAt: bigint }>(
    'model_retire',
    async ({ chain, authority }, { seconds = 0n, ...changes }) => {
      const soonest = (await chain.now()) + 30n * DAY;
      const terms = { modelId: MODEL.id, retiresAt: soonest + seconds, ...changes };
      return modelRetire({ authority: authority.publicKey, ...terms });
    },
    [
      ['RetirementTooSoon', 'a second less than 30 days ahead', { seconds: -1n }, {}],
      ...bounds<{ retiresAt: bigint }>('RetirementTooSoon', [
        ['retiresAt', 1n, 0n],
        ['retiresAt', -(2n ** 63n)],
      ]),
    ],
  ),
];

/** What the treasury gets of a job of 8 credits. */
const SHARE = 12_000n;
const settleJob = (world: World) => jobIn(world, 'settled');
/** A floor that was raised and lowered this often, each time a second before it counts no more. */
const lowerFloor = async (world: World, times: number) => {
  await settleJob(world);
  for (let count = 0; count < times; count += 1) {
    await setTerms(world, { treasuryFloorCredits: 1n });
    await setTerms(world, { treasuryFloorCredits: 0n });
    await pass(world, NOTICE_SECONDS - 1n);
  }
};
/** 8 credits owed, 8 in dispute and a floor of 5: 210,000 base units. */
const oweAndDispute = async (world: World) => {
  const owed = await jobIn(world, 'disputed');
  await jobIn(world, 'disputed');
  await decide(world, owed, 'upheld_gateway');
  await setTerms(world, { treasuryFloorCredits: 5n });
  hold(world, addresses.treasuryVault, 210_001n);
};

const ofTreasury = [
  ...casesOf<{ baseUnits: bigint }>(
    'treasury_withdraw',
    ({ authority, walletTokens }, { baseUnits = 1n }) =>
      treasuryWithdraw({ authority: authority.publicKey, destination: walletTokens, baseUnits }),
    [
      ...bounds<{ baseUnits: bigint }>('ValueOutOfRange', [['baseUnits', 0n]]),
      ...bounds<{ baseUnits: bigint }>('TreasuryReserved', [['baseUnits', 2n ** 64n - 1n]]),
      [
        'TreasuryReserved',
        'more than there is',
        after(settleJob, {}, { baseUnits: SHARE + 1n }),
        { baseUnits: SHARE },
      ],
      [
        'TreasuryReserved',
        'what is owed, disputed, or the floor',
        after(oweAndDispute, {}, { baseUnits: 2n }),
        { baseUnits: 1n },
      ],
      ...[1, 2].map(
        (times): Row<{ baseUnits: bigint }> => [
          'TreasuryReserved',
          `a floor that was lowered ${times} times, for 26 hours`,
          after(lowerFloor, times, { baseUnits: 2_001n }),
          after(pass, 1n, { baseUnits: 2_001n }),
        ],
      ),
      [
        'TreasuryReserved',
        'a floor that has just been raised',
        after(async (world) => {
          await settleJob(world);
          await setTerms(world, { treasuryFloorCredits: 2n });
        }),
      ],
    ],
  ),
  ...casesOf<{ stakeMint: PublicKey }>(
    'slash_burn',
    ({ stakeMint }, changes) => slashBurn({ stakeMint, ...changes }),
    [
      [
        'NothingToClaim',
        'what no verdict took',
        {},
        after(async (world) => decide(world, await jobIn(world, 'disputed'), 'upheld_worker')),
      ],
      ['WrongMint', 'another mint', ({ creditMint }) => ({ stakeMint: creditMint })],
    ],
  ),
];

export const governanceCases = [
  ...ofConfig,
  ...ofAuthority,
  ...ofGateways,
  ...ofModels,
  ...ofTreasury,
];
