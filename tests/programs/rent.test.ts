import { describe, expect, it } from '@jest/globals';
import { type PublicKey, SYSVAR_RENT_PUBKEY, SystemProgram } from '@solana/web3.js';
import { creditOpen, jobClose } from '../../programs/client/index.ts';
import { type Chain, startChain } from '../../testing/chain.ts';
import { pass } from './support/expectations.ts';
import { composeLock, refund } from './support/jobs.ts';
import { startTwins } from './support/twins.ts';
import { addresses, createWorld, send, type World } from './support/world.ts';

const ACCOUNT_OVERHEAD_BYTES = 128;

/** What the ledger asks for an account of so many bytes; how it splits rate and threshold differs. */
async function minimumLamports(chain: Chain, dataBytes: number): Promise<number> {
  const rent = Buffer.from((await chain.account(SYSVAR_RENT_PUBKEY))?.data ?? []);
  const perByteYear = Number(rent.readBigUInt64LE(0));
  const thresholdYears = rent.readDoubleLE(8);
  return (ACCOUNT_OVERHEAD_BYTES + dataBytes) * perByteYear * thresholdYears;
}

const lamportsOf = async ({ chain }: World, address: PublicKey): Promise<number> =>
  (await chain.account(address))?.lamports ?? 0;

const give = ({ chain }: World, address: PublicKey, lamports: number): void =>
  chain.setAccount(address, {
    ...{ lamports, data: new Uint8Array(), owner: SystemProgram.programId, executable: false },
  });

/** A ledger with another rent than the runtime begins with. */
async function startWithRent(lamportsPerByte: number): Promise<Chain> {
  const chain = await startChain();
  const rent = await chain.account(SYSVAR_RENT_PUBKEY);
  if (rent === null) throw new Error('The ledger has no Rent');
  const data = Buffer.from(rent.data);
  data.writeBigUInt64LE(BigInt(lamportsPerByte), 0);
  data.writeDoubleLE(1, 8);
  chain.setAccount(SYSVAR_RENT_PUBKEY, { ...rent, data });
  return chain;
}

describe('the rent of an account', () => {
  it.each([6_960, 5_080, 696])('is the ledger’s: %i lamports a byte', async (lamportsPerByte) => {
    const world = await createWorld({}, await startWithRent(lamportsPerByte));
    const { instruction, job } = await composeLock(world);
    await send(world, instruction);
    const { config, treasury, vault, treasuryVault, stakeVault } = addresses;
    const { gateway, creditAccount, model, worker } = world;
    const ofProgram = [config, treasury, vault, treasuryVault, stakeVault, gateway, creditAccount];
    const ofTokens = [world.creditMint, world.stakeMint, world.walletTokens, world.payout];
    for (const address of [...ofProgram, model, worker, job, ...ofTokens]) {
      const account = await world.chain.account(address);
      const bytes = account?.data.length ?? 0;
      expect(bytes).toBeGreaterThan(0);
      expect(account?.lamports).toBe((ACCOUNT_OVERHEAD_BYTES + bytes) * lamportsPerByte);
    }
  });

  // In both runtimes, whose Rents split rate and threshold in another way.
  it('includes lamports that the address had before, and never returns them', async () => {
    const world = await createWorld({}, await startTwins());
    const minimum = await minimumLamports(
      world.chain,
      (await world.chain.account(world.creditAccount))?.data.length ?? 0,
    );
    for (const sent of [1, minimum - 1, minimum, minimum + 1]) {
      const payer = await world.person();
      const creditAccount = addresses.creditAccount(payer.publicKey);
      give(world, creditAccount, sent);
      const before = await lamportsOf(world, payer.publicKey);
      const open = creditOpen({ payer: payer.publicKey, wallet: payer.publicKey });
      await send(world, open);
      expect(await lamportsOf(world, creditAccount)).toBe(Math.max(minimum, sent));
      const paid = before - (await lamportsOf(world, payer.publicKey));
      expect(paid).toBe(Math.max(0, minimum - sent));
    }
  });

  it('is returned in full when a job is closed, with lamports from others', async () => {
    const world = await createWorld({}, await startTwins());
    const { chain, stranger } = world;
    const rentPayer = await world.person();
    const { instruction, job } = await composeLock(world);
    for (const key of instruction.keys) {
      if (key.pubkey.equals(chain.payer.publicKey)) key.pubkey = rentPayer.publicKey;
    }
    const before = await lamportsOf(world, rentPayer.publicKey);
    await send(world, instruction);
    const paid = before - (await lamportsOf(world, rentPayer.publicKey));
    expect(paid).toBe(await lamportsOf(world, job));

    const gift = { fromPubkey: stranger.publicKey, toPubkey: job, lamports: 7 };
    await send(world, SystemProgram.transfer(gift));
    await pass(world, 122n);
    const close = jobClose({ job, rentPayer: rentPayer.publicKey });
    await send(world, refund(world, job), close);
    expect(await chain.account(job)).toBeNull();
    expect(await lamportsOf(world, rentPayer.publicKey)).toBe(before + gift.lamports);
  });
});
