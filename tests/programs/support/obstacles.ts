import { type PublicKey, SystemProgram } from '@solana/web3.js';
import {
  authorityAccept,
  authorityPropose,
  configUpdate,
  gatewayUpdate,
  pauseSet,
  spenderSet,
  stakeUnlock,
  workerDeregister,
  workerSuspend,
} from '../../../programs/client/index.ts';
import { NO_SPENDER } from '../../../testing/kit/setUp.ts';
import type { Exits } from './exits.ts';
import { jobIn } from './jobs.ts';
import { decide } from './verdicts.ts';
import { addresses, SETTINGS, type World } from './world.ts';

/** Something that could stand between a job and its end, or between somebody and their money. */
export interface Obstacle {
  /** Puts it in the way. Returns what it changes about who acts. */
  raise(world: World): Promise<Partial<World> | undefined>;
  /** Only what moves tokens of the very account in question can be refused, and by name. */
  refused?: Partial<Exits>;
  /** What each settlement leaves in the vault, because it cannot be paid: of 80,000 base units. */
  unpaid?: { worker?: bigint; treasury?: bigint };
}

const WORKERS_SHARE = 68_000n;
const TREASURYS_SHARE = 12_000n;
/** Where a Model's `retires_at` lies, counted from the end: before card and reserved bytes. */
const RETIRES_AT = -72;

const rewriteToken = async (
  { chain, creditMint }: World,
  address: PublicKey,
  owner: PublicKey,
  change: { frozen?: boolean; mint?: PublicKey; baseUnits?: bigint },
): Promise<undefined> => {
  const baseUnits = await chain.tokens(address);
  chain.setToken(address, { mint: creditMint, owner, baseUnits, ...change });
};

export const obstacles: Record<string, Obstacle> = {
  'nothing in the way': { raise: async () => undefined },
  'the payee is frozen': {
    raise: (world) =>
      rewriteToken(world, world.payout, world.workerAuthority.publicKey, { frozen: true }),
    unpaid: { worker: WORKERS_SHARE },
  },
  'the payee is closed': {
    async raise({ chain, payout }) {
      const owner = SystemProgram.programId;
      chain.setAccount(payout, { lamports: 0, data: new Uint8Array(), owner, executable: false });
      return undefined;
    },
    unpaid: { worker: WORKERS_SHARE },
  },
  'the payee is of another mint': {
    raise: (world) =>
      rewriteToken(world, world.payout, world.workerAuthority.publicKey, { mint: world.stakeMint }),
    unpaid: { worker: WORKERS_SHARE },
  },
  'the payee belongs to somebody else': {
    raise: (world) => rewriteToken(world, world.payout, world.stranger.publicKey, {}),
  },
  'the vault is frozen': {
    raise: (world) =>
      rewriteToken(world, addresses.vault, addresses.vaultAuthority, { frozen: true }),
    refused: { withdraw: 'WrongTokenAccount', claim: 'PayeeUnavailable' },
    unpaid: { worker: WORKERS_SHARE, treasury: TREASURYS_SHARE },
  },
  'the treasury’s vault is frozen': {
    raise: (world) =>
      rewriteToken(world, addresses.treasuryVault, addresses.vaultAuthority, { frozen: true }),
    refused: { claim: 'PayeeUnavailable' },
    unpaid: { treasury: TREASURYS_SHARE },
  },
  'the treasury is empty': {
    // What two settlements then pay in, 2.4 credits, pays two of the eight that are owed.
    raise: (world) =>
      rewriteToken(world, addresses.treasuryVault, addresses.vaultAuthority, { baseUnits: 0n }),
  },
  'deposits and locks are paused': {
    async raise({ chain, authority }) {
      const paused = { depositsPaused: true, locksPaused: true };
      await chain.send([pauseSet({ authority: authority.publicKey, ...paused })], [authority]);
      return undefined;
    },
  },
  'the model is retired': {
    async raise({ chain, model }) {
      const account = await chain.account(model);
      if (account === null) throw new Error('there is no model');
      const data = Buffer.from(account.data);
      data.writeBigInt64LE(1n, data.length + RETIRES_AT);
      chain.setAccount(model, { ...account, data });
      return undefined;
    },
  },
  'the worker takes its stake out': {
    async raise({ chain, workerAuthority }) {
      const unlock = stakeUnlock({ authority: workerAuthority.publicKey, tokens: 900n });
      await chain.send([unlock], [workerAuthority]);
      return undefined;
    },
    // The verdict takes the 100 tokens that were left.
    refused: { unlock: 'InsufficientStake' },
  },
  'the worker is suspended': {
    async raise({ chain, arbiter, worker }) {
      const suspend = { arbiter: arbiter.publicKey, worker, suspended: true };
      await chain.send([workerSuspend(suspend)], [arbiter]);
      return undefined;
    },
  },
  'the worker has left for good': {
    async raise({ chain, workerAuthority }) {
      const leave = workerDeregister({ authority: workerAuthority.publicKey });
      await chain.send([leave], [workerAuthority]);
      return undefined;
    },
  },
  'the stake is slashed already': {
    async raise(world) {
      const now = await world.chain.now();
      const jobs = [await jobIn(world, 'disputed'), await jobIn(world, 'disputed')];
      for (const job of jobs) await decide(world, job, 'upheld_worker');
      // The open jobs are as young as before.
      await world.chain.setTime(now);
      return undefined;
    },
    refused: { unlock: 'InsufficientStake', unstake: 'NothingToClaim' },
  },
  'the gateway is stopped': {
    async raise({ chain, operator, hotSigner }) {
      const stop = { signers: [hotSigner.publicKey], stopped: true };
      await chain.send([gatewayUpdate({ operator: operator.publicKey, ...stop })], [operator]);
      return undefined;
    },
  },
  'the wallet took its spender away': {
    async raise({ chain, wallet }) {
      await chain.send([spenderSet({ wallet: wallet.publicKey, ...NO_SPENDER })], [wallet]);
      return undefined;
    },
  },
  'authority and arbiter changed': {
    async raise({ chain, authority, stranger, person }) {
      const arbiter = await person();
      const terms = { ...SETTINGS, openDisputesMax: 9, arbiter: arbiter.publicKey };
      const pendingAuthority = stranger.publicKey;
      await chain.send(
        [
          configUpdate({ authority: authority.publicKey, ...terms }),
          authorityPropose({ authority: authority.publicKey, pendingAuthority }),
          authorityAccept({ pendingAuthority }),
        ],
        [authority, stranger],
      );
      return { arbiter };
    },
  },
  'lamports lie everywhere unasked': {
    async raise({ chain, creditAccount, worker, stranger }) {
      const gifts = [creditAccount, worker, addresses.config, addresses.treasury].map((toPubkey) =>
        SystemProgram.transfer({ fromPubkey: stranger.publicKey, toPubkey, lamports: 1_000_000 }),
      );
      await chain.send(gifts, [stranger]);
      return undefined;
    },
  },
};
