import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Keypair, PublicKey, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { configInitialize, PROGRAM_ID } from '../../programs/client/index.ts';
import { artifactPath } from '../../programs/tools/artifacts.ts';
import { authorityKey, startChain } from '../../testing/chain.ts';
import { localAuthority } from '../../testing/kit/bankrun.ts';
import { expectEffect } from './support/emission.ts';
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
const OLD_LOADER = new PublicKey('BPFLoader2111111111111111111111111111111111');
const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');

/** The instruction as a client sends it to a cluster: it names the real ProgramData. */
const onCluster = (world: World, authority: Keypair) =>
  configInitialize({
    authority: authority.publicKey,
    creditMint: world.creditMint,
    stakeMint: world.stakeMint,
    arbiter: world.arbiter.publicKey,
    ...SETTINGS,
  });

/** A world whose program somebody may upgrade. */
async function startWithUpgrader() {
  const upgrader = Keypair.generate();
  const world = await createBareWorld(await startChain({ upgradeAuthority: upgrader.publicKey }));
  world.people.push(upgrader);
  world.chain.fund(upgrader.publicKey);
  return { world, upgrader };
}

// Which terms and mints it refuses: support/refusals/governance.ts.
describe('the key that may initialize', () => {
  it('is only the upgrade authority under the upgradeable loader', async () => {
    const { world, upgrader } = await startWithUpgrader();
    for (const signer of [AUTHORITY, world.stranger]) {
      await expectRefusal(world, 'Unauthorized', onCluster(world, signer));
    }
    const { arbiter, creditMint, stakeMint } = world;
    const { vault, treasuryVault, stakeVault } = addresses;
    await expectEffect(world, onCluster(world, upgrader), 'ConfigInitialized', {
      config: {
        authority: upgrader.publicKey,
        pendingAuthority: PublicKey.default,
        arbiter: arbiter.publicKey,
        creditMint,
        stakeMint,
        stakeDecimals: STAKE_DECIMALS,
        ...SETTINGS,
        vault,
        treasuryVault,
        stakeVault,
        jobTimeoutSeconds: 120,
        disputeWindowSeconds: 60,
        arbitrationWindowSeconds: 86_400,
        depositsPaused: false,
        locksPaused: false,
      },
      treasury: {},
    });
    for (const created of [vault, treasuryVault, stakeVault]) {
      expect(await world.chain.tokens(created)).toBe(0n);
    }
  });

  it('is only the local authority under the old loader', async () => {
    const world = await createBareWorld();
    const { chain, stranger } = world;
    const data = readFileSync(artifactPath('escrow', 'v3'));
    const program = { lamports: 10_000_000_000, data, owner: OLD_LOADER, executable: true };
    chain.setAccount(PROGRAM_ID, program);
    chain.fund(LOCAL_AUTHORITY.publicKey);
    const initializeBy = (authority: Keypair) =>
      withAccount(initializeInstruction({ ...world, authority }), 'program_data', PROGRAM_ID);
    for (const signer of [stranger, AUTHORITY]) {
      await expectRefusal(world, 'Unauthorized', initializeBy(signer), [signer]);
    }
    const local = initializeBy(LOCAL_AUTHORITY);
    const elsewhere = withAccount(local, 'program_data', SYSVAR_CLOCK_PUBKEY);
    await expectRefusal(world, 'WrongAddress', elsewhere, [LOCAL_AUTHORITY]);
    await chain.send([local], [LOCAL_AUTHORITY]);
  });

  it('does not exist once the program can no longer be upgraded', async () => {
    const world = await createBareWorld(await startChain({ upgradeAuthority: null }));
    await expectRefusal(world, 'Unauthorized', onCluster(world, AUTHORITY));
  });

  it('cannot be taken from a forged ProgramData account', async () => {
    const { world } = await startWithUpgrader();
    const { chain, stranger } = world;
    const forged = Buffer.alloc(45);
    forged.writeUInt32LE(3);
    forged.set([1, ...stranger.publicKey.toBytes()], 12);
    const place = (owner: PublicKey): PublicKey => {
      const address = Keypair.generate().publicKey;
      chain.setAccount(address, { lamports: 10_000_000, data: forged, owner, executable: false });
      return address;
    };
    for (const [refusal, programData] of [
      ['WrongAddress', place(UPGRADEABLE_LOADER)],
      ['WrongAccountOwner', place(stranger.publicKey)],
      ['WrongAddress', PROGRAM_ID],
    ] as const) {
      const instruction = withAccount(onCluster(world, stranger), 'program_data', programData);
      await expectRefusal(world, refusal, instruction);
    }
  });
});
