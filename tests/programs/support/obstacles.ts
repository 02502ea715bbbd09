import { type PublicKey, SystemProgram } from '@solana/web3.js';
import { authorityAccept, authorityPropose } from '../../../programs/client/index.ts';
import type { Exits } from './exits.ts';
import { jobIn } from './jobs.ts';
import {
  freeze,
  hold,
  leave,
  pause,
  removeSpender,
  setTerms,
  suspend,
  unlockStake,
  updateGateway,
} from './parties.ts';
import { UNUSED } from './undone.ts';
import { decide } from './verdicts.ts';
import { addresses, send, type World } from './world.ts';

/** Something that could stand between a job and its end, or between somebody and their money. */
export interface Obstacle {
  /** Puts it in the way. May return what it changes about who acts. */
  raise(world: World): unknown;
  /** Only what moves tokens of the very account in question can be refused, and by name. */
  refused?: Partial<Exits>;
  /** What each settlement leaves in the vault, because it cannot be paid: of 80,000 base units. */
  unpaid?: { worker?: bigint; treasury?: bigint };
}

const WORKERS_SHARE = 68_000n;
const TREASURYS_SHARE = 12_000n;
/** Where a Model's `retires_at` lies, counted from the end: before card and reserved bytes. */
const RETIRES_AT = -72;

const setPayee = ({ chain, payout }: World, mint: PublicKey, owner: PublicKey): void =>
  chain.setToken(payout, { mint, owner, baseUnits: 0n });

export const obstacles: Record<string, Obstacle> = {
  'nothing is in the way': { raise: () => undefined },
  'the payee is frozen': {
    raise: (world) => freeze(world, world.payout),
    unpaid: { worker: WORKERS_SHARE },
  },
  'the payee is closed': {
    raise: ({ chain, payout }) => chain.setAccount(payout, UNUSED),
    unpaid: { worker: WORKERS_SHARE },
  },
  'the payee is of another mint': {
    raise: (world) => setPayee(world, world.stakeMint, world.workerAuthority.publicKey),
    unpaid: { worker: WORKERS_SHARE },
  },
  'the payee belongs to somebody else': {
    raise: (world) => setPayee(world, world.creditMint, world.stranger.publicKey),
  },
  'the vault is frozen': {
    raise: (world) => freeze(world, addresses.vault),
    refused: { withdraw: 'WrongTokenAccount', claim: 'PayeeUnavailable' },
    unpaid: { worker: WORKERS_SHARE, treasury: TREASURYS_SHARE },
  },
  'the treasury’s vault is frozen': {
    raise: (world) => freeze(world, addresses.treasuryVault),
    refused: { claim: 'PayeeUnavailable' },
    unpaid: { treasury: TREASURYS_SHARE },
  },
  'the stakes’ vault is frozen': {
    raise: (world) => freeze(world, addresses.stakeVault),
    refused: { unstake: 'WrongTokenAccount' },
  },
  'the treasury is empty': {
    // What two settlements then pay in, 2.4 credits, pays two of the eight that are owed.
    raise: (world) => hold(world, addresses.treasuryVault, 0n),
  },
  'deposits and locks are paused': {
    raise: (world) => pause(world, { deposits: true, locks: true }),
  },
  'the model is retired': {
    async raise({ chain, model }) {
      const account = await chain.account(model);
      if (account === null) throw new Error('there is no model');
      const data = Buffer.from(account.data);
      data.writeBigInt64LE(1n, data.length + RETIRES_AT);
      chain.setAccount(model, { ...account, data });
    },
  },
  'the worker takes its stake out': {
    raise: (world) => unlockStake(world, 900n),
    // The verdict takes the 100 tokens that were left.
    refused: { unlock: 'InsufficientStake' },
  },
  'the worker is suspended': { raise: (world) => suspend(world, true) },
  'the worker has left for good': { raise: leave },
  'the stake is slashed already': {
    async raise(world) {
      const now = await world.chain.now();
      const jobs = [await jobIn(world, 'disputed'), await jobIn(world, 'disputed')];
      for (const job of jobs) await decide(world, job, 'upheld_worker');
      // The open jobs are as young as before.
      await world.chain.setTime(now);
    },
    refused: { unlock: 'InsufficientStake', unstake: 'NothingToClaim' },
  },
  'the gateway is stopped': { raise: (world) => updateGateway(world, { stopped: true }) },
  'the wallet took its spender away': { raise: removeSpender },
  'authority and arbiter changed': {
    async raise(world) {
      const authority = world.authority.publicKey;
      const pendingAuthority = world.stranger.publicKey;
      const arbiter = await world.person();
      await setTerms(world, { openDisputesMax: 9, arbiter: arbiter.publicKey });
      const propose = authorityPropose({ authority, pendingAuthority });
      await send(world, propose, authorityAccept({ pendingAuthority }));
      return { arbiter };
    },
  },
  'lamports lie everywhere unasked': {
    async raise(world) {
      const { creditAccount, worker, stranger } = world;
      const gifts = [creditAccount, worker, addresses.config, addresses.treasury].map((toPubkey) =>
        SystemProgram.transfer({ fromPubkey: stranger.publicKey, toPubkey, lamports: 1_000_000 }),
      );
      await send(world, ...gifts);
    },
  },
};
