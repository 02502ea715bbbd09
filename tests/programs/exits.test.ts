import { describe, expect, it } from '@jest/globals';
import type { TransactionInstruction } from '@solana/web3.js';
import type { JobStatus } from '../../programs/client/index.ts';
import {
  callThrough,
  HOSTILE_PROGRAM_ID,
  hostileProgram,
} from '../../testing/ledger/hostileCaller.ts';
import { expectConserved } from './support/conservation.ts';
import { type Exits, openJobs, takeExits } from './support/exits.ts';
import { readJob } from './support/jobs.ts';
import { type Obstacle, obstacles } from './support/obstacles.ts';
import { hold } from './support/parties.ts';
import { addresses, createWorld } from './support/world.ts';

/** The same ways, all of which work. */
const unhindered = (exits: Exits) =>
  Object.fromEntries(Object.keys(exits).map((name) => [name, 'works']));

const TREASURY_TOKENS = 1_000_000n;
/** By `job_settle` and by `job_complete`. */
const SETTLEMENTS = 2n;

/** A world whose treasury can pay what a verdict costs it. */
async function prepare() {
  const world = await createWorld({ openDisputesMax: 9 });
  const jobs = await openJobs(world);
  hold(world, addresses.treasuryVault, TREASURY_TOKENS);
  return { world, jobs };
}

describe("every exit for a user's tokens", () => {
  it.each(Object.keys(obstacles))('stays open when %s', async (name) => {
    const { raise, refused = {}, unpaid = {} } = obstacles[name] as Obstacle;
    const { world, jobs } = await prepare();
    const changed = await raise(world);
    const acting = { ...world, ...(typeof changed === 'object' && changed) };
    const exits = await takeExits(acting, jobs);
    expect(exits).toEqual({ ...unhindered(exits), ...refused });
    const worker = await world.read('Worker', world.worker);
    expect(worker.claimableBaseUnits).toBe(SETTLEMENTS * (unpaid.worker ?? 0n));
    const treasury = await world.read('Treasury', addresses.treasury);
    expect(treasury.unpaidBaseUnits).toBe(SETTLEMENTS * (unpaid.treasury ?? 0n));
    await expectConserved(world);
  });
});

/** The runtime nests five programs: the escrow, what it calls, and up to three above. */
describe('every exit through other programs', () => {
  const takeThrough = async (depth: number) => {
    const { world, jobs } = await prepare();
    world.chain.setAccount(HOSTILE_PROGRAM_ID, hostileProgram());
    const nest = (instruction: TransactionInstruction, levels: number): TransactionInstruction =>
      levels === 0 ? instruction : nest(callThrough(instruction), levels - 1);
    const exits = await takeExits(world, jobs, (instruction) => nest(instruction, depth));
    await expectConserved(world);
    return { world, jobs, exits };
  };

  it.each([1, 2, 3])('works with %i programs above the escrow', async (depth) => {
    const { exits } = await takeThrough(depth);
    expect(exits).toEqual(unhindered(exits));
  });

  it('is refused by the runtime with 4 above it, and nothing changes', async () => {
    const { world, jobs, exits } = await takeThrough(4);
    expect(Object.values(exits)).not.toContain('works');
    expect([exits.settle, exits.complete]).toEqual(
      Array(2).fill(expect.stringMatching('CallDepth')),
    );
    const statuses: Record<string, JobStatus> = { undecided: 'disputed', given: 'processing' };
    for (const [name, job] of Object.entries(jobs)) {
      expect((await readJob(world, job)).status).toBe(statuses[name] ?? name);
    }
  });
});
