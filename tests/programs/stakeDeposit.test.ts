import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { stakeDeposit, stakeUnlock, workerDeregister } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, createWorld, SETTINGS, STAKE_TOKENS, type World } from './support/world.ts';

const STAKE_TOKENS_MAX = 10_000_000_000n;
const ONE_TOKEN = 1_000_000_000n;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const worker = () => world.read('Worker', world.worker);
const deposit = (tokens: bigint, from = world.stakeTokens, depositor = world.workerAuthority) =>
  stakeDeposit({
    depositor: depositor.publicKey,
    depositorTokenAccount: from,
    worker: world.worker,
    tokens,
  });

describe('stake_deposit', () => {
  it('adds whole tokens to the stake, from any payer', async () => {
    const { chain, stranger, stakeMint } = world;
    const tokens = world.token(stakeMint, stranger.publicKey, 5n * ONE_TOKEN);
    const before = await worker();
    await expectEvent(world, [deposit(5n, tokens, stranger)], [stranger], 'StakeDeposited', {
      worker: world.worker,
      workerSequence: 4n,
      tokens: 5n,
      stakeTokens: STAKE_TOKENS + 5n,
      unstakingTokens: 0n,
      unstakeReadyAt: 0n,
      unstakeCooldownSeconds: SETTINGS.unstakeCooldownSeconds,
    });
    expect(await chain.tokens(tokens)).toBe(0n);
    expect(await worker()).toEqual({ ...before, sequence: 4n, stakeTokens: STAKE_TOKENS + 5n });
  });

  it('adds up over several deposits', async () => {
    const { chain, workerAuthority } = world;
    await chain.send([deposit(1n)], [workerAuthority]);
    await chain.send([deposit(1n)], [workerAuthority]);
    expect(await worker()).toMatchObject({ sequence: 5n, stakeTokens: STAKE_TOKENS + 2n });
  });

  it('refuses zero, and more than a worker may have, with unstaking tokens', async () => {
    const { chain, workerAuthority, stakeMint } = world;
    const authority = workerAuthority.publicKey;
    await chain.send([stakeUnlock({ authority, tokens: 400n })], [workerAuthority]);
    const room = STAKE_TOKENS_MAX - STAKE_TOKENS;
    for (const tokens of [0n, room + 1n, STAKE_TOKENS_MAX, 2n ** 64n - 1n]) {
      await expectRefusal(world, 'ValueOutOfRange', deposit(tokens), [workerAuthority]);
    }
    const rich = world.token(stakeMint, authority, room * ONE_TOKEN);
    await chain.send([deposit(room, rich)], [workerAuthority]);
    expect((await worker()).stakeTokens).toBe(STAKE_TOKENS_MAX - 400n);
    await expectRefusal(world, 'ValueOutOfRange', deposit(1n), [workerAuthority]);
  });

  it('refuses token accounts that cannot pay', async () => {
    const { chain, workerAuthority, creditMint, stakeMint, stranger } = world;
    const authority = workerAuthority.publicKey;
    const refused = (name: Parameters<typeof expectRefusal>[1], from: PublicKey) =>
      expectRefusal(world, name, deposit(1n, from), [workerAuthority]);
    await refused('DuplicateAccount', addresses.stakeVault);
    await refused('WrongMint', world.token(creditMint, authority, 10_000n));
    await refused('WrongTokenAccount', stranger.publicKey);
    const foreign = world.token(stakeMint, stranger.publicKey, ONE_TOKEN);
    // SPL Token's own refusal: OwnerMismatch
    await expect(chain.send([deposit(1n, foreign)], [workerAuthority])).rejects.toThrow('0x4');
    const poor = world.token(stakeMint, authority, ONE_TOKEN - 1n);
    // SPL Token's own refusal: InsufficientFunds
    await expect(chain.send([deposit(1n, poor)], [workerAuthority])).rejects.toThrow('0x1');
  });

  it('refuses any destination but the stake vault', async () => {
    const own = world.token(world.stakeMint, world.workerAuthority.publicKey);
    for (const elsewhere of [addresses.vault, own]) {
      const instruction = withAccount(deposit(1n), 'stake_vault', elsewhere);
      await expectRefusal(world, 'WrongAddress', instruction, [world.workerAuthority]);
    }
  });

  it('fails while the stake vault is frozen', async () => {
    const { chain, stakeMint, workerAuthority } = world;
    const baseUnits = await chain.tokens(addresses.stakeVault);
    const token = { mint: stakeMint, owner: addresses.vaultAuthority, baseUnits };
    chain.setToken(addresses.stakeVault, { ...token, frozen: true });
    await expectRefusal(world, 'WrongTokenAccount', deposit(1n), [workerAuthority]);
  });

  it('is refused for a deregistered worker', async () => {
    const { chain, workerAuthority } = world;
    const leave = workerDeregister({ authority: workerAuthority.publicKey });
    await chain.send([leave], [workerAuthority]);
    await expectRefusal(world, 'WrongWorkerStatus', deposit(1n), [workerAuthority]);
  });
});
