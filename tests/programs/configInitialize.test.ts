import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  Keypair,
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js';
import { ACCOUNT_VERSION, configInitialize, PROGRAM_ID } from '../../programs/client/index.ts';
import { artifactPath } from '../../programs/tools/artifacts.ts';
import { authorityKey, startChain } from '../../testing/chain.ts';
import { localAuthority } from '../../testing/kit/bankrun.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { withAccount } from './support/tampering.ts';
import {
  addresses,
  createBareWorld,
  initializeInstruction,
  SETTINGS,
  STAKE_DECIMALS,
  type World,
} from './support/world.ts';

const [AUTHORITY, LOCAL_AUTHORITY] = await Promise.all([authorityKey(), localAuthority()]);

/** Config, Treasury and the three vaults. */
const CREATED = [
  addresses.config,
  addresses.treasury,
  addresses.vault,
  addresses.treasuryVault,
  addresses.stakeVault,
];

const initialize = (world: World, settings: Parameters<typeof initializeInstruction>[1] = {}) =>
  initializeInstruction(world, settings);

describe('config_initialize', () => {
  it('creates configuration, treasury and vaults, once', async () => {
    const world = await createBareWorld();
    await world.chain.send([initialize(world)], [world.authority]);
    expect(await world.read('Config', addresses.config)).toMatchObject({
      version: ACCOUNT_VERSION,
      sequence: 1n,
      authority: AUTHORITY.publicKey,
      pendingAuthority: PublicKey.default,
      arbiter: world.arbiter.publicKey,
      creditMint: world.creditMint,
      stakeMint: world.stakeMint,
      vault: addresses.vault,
      treasuryVault: addresses.treasuryVault,
      stakeVault: addresses.stakeVault,
      stakeDecimals: STAKE_DECIMALS,
      jobTimeoutSeconds: 120,
      disputeWindowSeconds: 60,
      arbitrationWindowSeconds: 86_400,
      depositsPaused: false,
      locksPaused: false,
      ...SETTINGS,
    });
    expect((await world.read('Treasury', addresses.treasury)).sequence).toBe(1n);
    for (const vault of CREATED.slice(2)) expect(await world.chain.tokens(vault)).toBe(0n);
    await expectRefusal(world, 'AlreadyInitialized', initialize(world), [world.authority]);
  });

  it('works when the addresses already hold lamports', async () => {
    const world = await createBareWorld();
    for (const [index, address] of CREATED.entries()) {
      world.chain.setAccount(address, {
        lamports: 1 + index * 5_000_000,
        data: new Uint8Array(),
        owner: SystemProgram.programId,
        executable: false,
      });
    }
    await world.chain.send([initialize(world)], [world.authority]);
  });

  it.each([
    ['no arbiter', { arbiter: PublicKey.default }],
    ['an arbiter that is the authority', { arbiter: AUTHORITY.publicKey }],
    ['share', { treasuryShareBasisPoints: 10_001 }],
    // timeout, dispute and arbitration windows and an hour: 90,180 seconds
    ['cooldown', { unstakeCooldownSeconds: 90_179 }],
    ['cooldown', { unstakeCooldownSeconds: 365 * 86_400 + 1 }],
    ['dispute limit', { openDisputesMax: 0 }],
    ['minimum stake', { minimumStakeTokens: 0n, slashTokens: 0 }],
    ['minimum stake', { minimumStakeTokens: 10_000_000_001n }],
    ['slash', { slashTokens: 1_001 }],
    ['job cap', { jobCreditsMax: 0n }],
    ['job cap', { jobCreditsMax: 10_000_000_000_001n }],
    ['account cap', { creditAccountCreditsMax: 0n }],
    ['account cap', { creditAccountCreditsMax: 10_000_000_000_001n }],
  ])('refuses terms out of range: %s', async (_, settings) => {
    const world = await createBareWorld();
    await expectRefusal(world, 'ValueOutOfRange', initialize(world, settings), [world.authority]);
  });

  it('accepts the bounds of every range', async () => {
    const world = await createBareWorld();
    const bounds = {
      treasuryShareBasisPoints: 10_000,
      unstakeCooldownSeconds: 90_180,
      openDisputesMax: 255,
      minimumStakeTokens: 1n,
      slashTokens: 1,
      jobCreditsMax: 1n,
      creditAccountCreditsMax: 10_000_000_000_000n,
    };
    await world.chain.send([initialize(world, bounds)], [world.authority]);
  });

  it('refuses unsuitable mints', async () => {
    const world = await createBareWorld();
    const { chain, authority, creditMint, stakeMint, stranger } = world;
    const refused = (name: 'WrongMint' | 'DuplicateAccount', change: object) =>
      expectRefusal(world, name, initializeInstruction({ ...world, ...change }), [authority]);
    await refused('DuplicateAccount', { stakeMint: creditMint });
    await refused('WrongMint', { creditMint: stakeMint });
    await refused('WrongMint', { creditMint: stranger.publicKey });
    await refused('WrongMint', { stakeMint: world.walletTokens });
    const tooFine = Keypair.generate().publicKey;
    chain.setMint(tooFine, 10);
    await refused('WrongMint', { stakeMint: tooFine });
    const foreign = Keypair.generate().publicKey;
    const mint = await chain.account(creditMint);
    if (mint) chain.setAccount(foreign, { ...mint, owner: stranger.publicKey });
    await refused('WrongMint', { creditMint: foreign });
  });
});

describe('the key that may initialize', () => {
  it('is only the local authority under the old loader', async () => {
    const world = await createBareWorld();
    const { chain, stranger } = world;
    const data = readFileSync(artifactPath('escrow', 'v3'));
    const owner = new PublicKey('BPFLoader2111111111111111111111111111111111');
    chain.setAccount(PROGRAM_ID, { lamports: 10_000_000_000, data, owner, executable: true });
    chain.fund(LOCAL_AUTHORITY.publicKey);
    const initializeBy = (authority: Keypair): TransactionInstruction =>
      withAccount(initializeInstruction({ ...world, authority }), 'program_data', PROGRAM_ID);
    for (const signer of [stranger, AUTHORITY]) {
      await expectRefusal(world, 'Unauthorized', initializeBy(signer), [signer]);
    }
    const local = initializeBy(LOCAL_AUTHORITY);
    const elsewhere = withAccount(local, 'program_data', SYSVAR_CLOCK_PUBKEY);
    await expectRefusal(world, 'WrongAddress', elsewhere, [LOCAL_AUTHORITY]);
    await chain.send([local], [LOCAL_AUTHORITY]);
  });

  /** The instruction as a client sends it to a cluster: it names the real ProgramData. */
  const onCluster = (world: World, authority: Keypair) =>
    configInitialize({
      authority: authority.publicKey,
      creditMint: world.creditMint,
      stakeMint: world.stakeMint,
      arbiter: world.arbiter.publicKey,
      ...SETTINGS,
    });

  it('is only the upgrade authority under the upgradeable loader', async () => {
    const upgrader = Keypair.generate();
    const world = await createBareWorld(await startChain({ upgradeAuthority: upgrader.publicKey }));
    world.chain.fund(upgrader.publicKey);
    for (const signer of [AUTHORITY, world.stranger]) {
      await expectRefusal(world, 'Unauthorized', onCluster(world, signer), [signer]);
    }
    const { arbiter, creditMint, stakeMint } = world;
    const { vault, treasuryVault, stakeVault } = addresses;
    await expectEvent(world, [onCluster(world, upgrader)], [upgrader], 'ConfigInitialized', {
      ...{ configSequence: 1n, authority: upgrader.publicKey, arbiter: arbiter.publicKey },
      ...{ creditMint, stakeMint, stakeDecimals: STAKE_DECIMALS, ...SETTINGS },
      ...{ vault, treasuryVault, stakeVault, jobTimeoutSeconds: 120, disputeWindowSeconds: 60 },
      arbitrationWindowSeconds: 86_400,
    });
    const config = await world.read('Config', addresses.config);
    expect(config.authority).toEqual(upgrader.publicKey);
  });

  it('does not exist once the program can no longer be upgraded', async () => {
    const world = await createBareWorld(await startChain({ upgradeAuthority: null }));
    await expectRefusal(world, 'Unauthorized', onCluster(world, AUTHORITY), [AUTHORITY]);
  });

  it('cannot be taken from a forged ProgramData account', async () => {
    const upgrader = Keypair.generate();
    const world = await createBareWorld(await startChain({ upgradeAuthority: upgrader.publicKey }));
    const { chain, stranger } = world;
    const forged = Buffer.alloc(45);
    forged.writeUInt32LE(3);
    forged.set([1, ...stranger.publicKey.toBytes()], 12);
    const place = (owner: PublicKey): PublicKey => {
      const address = Keypair.generate().publicKey;
      chain.setAccount(address, { lamports: 10_000_000, data: forged, owner, executable: false });
      return address;
    };
    const instruction = onCluster(world, stranger);
    const loader = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');
    const own = withAccount(instruction, 'program_data', place(loader));
    await expectRefusal(world, 'WrongAddress', own, [stranger]);
    const foreign = withAccount(instruction, 'program_data', place(stranger.publicKey));
    await expectRefusal(world, 'WrongAccountOwner', foreign, [stranger]);
    const program = withAccount(instruction, 'program_data', PROGRAM_ID);
    await expectRefusal(world, 'WrongAddress', program, [stranger]);
  });
});
