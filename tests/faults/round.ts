import { delay } from '../../common/wait.ts';
import type { StartedProcess } from '../../testing/childProcess.ts';
import type { Random } from '../../testing/random.ts';
import { auditWallet, isOpen, type JobAccount, type LedgerState, readLedger } from './books.ts';
import { createEpisode, type Episode } from './episodes.ts';
import type { Scene } from './scene.ts';
import { drawWeighted, type Tally } from './tally.ts';
import { chargeUnproven, convictInnocent, lockForOneself, replayRequests } from './thieves.ts';
import { WORLD_FAULTS, WORLD_WEIGHTS } from './worldFaults.ts';

const POLL_MS = 50;
/**
 * Without any progress for so long, what is left hangs, and the ledger's clock is moved. Too soon on a
 * busy machine, that excuses what is late in this round.
 */
const QUIET_MS = 400;
/** To the stop of running answers, past the last proof, past the refund. */
const CLOCK_STEPS_SECONDS = [106, 10, 15];
/** A client that has no answer by then never gets one: eight times the lease of a process that died. */
const PATIENCE_MS = 240_000;
/** For the keeper of a busy machine, which may have to take over from one that was killed. */
const KEEPER_MS_MAX = 60_000;

/** Plays many clients at once while something strikes them all. @returns each violation */
export async function playRound(scene: Scene, random: Random, tally: Tally): Promise<string[]> {
  const { service } = scene;
  const before = await readLedger(service);
  const failuresBefore = await scene.failures();
  const known = new Set(before.jobs.map(({ id }) => id));
  const ended = new Map<string, JobAccount>();

  const worldFault = drawWeighted(random, WORLD_WEIGHTS);
  const spare = worldFault === 'API killed' ? await scene.spare() : undefined;
  const episodes = scene.wallets.map((wallet) => {
    const isEndangered = spare !== undefined && random.below(2) === 0;
    const baseUrl = isEndangered ? spare.url : service.baseUrl;
    return createEpisode({ scene, random, tally, wallet, baseUrl, isEndangered });
  });

  let hasClockMoved = false;
  const advanceSeconds = (seconds: number): Promise<void> => {
    hasClockMoved = true;
    return service.advanceSeconds(seconds);
  };

  async function look(): Promise<LedgerState> {
    const state = await readLedger(service);
    for (const job of state.jobs) if (!known.has(job.id)) ended.set(job.id, job);
    return state;
  }

  async function strike(): Promise<void> {
    if (worldFault === 'none') return;
    await delay(random.below(500));
    tally.note(worldFault);
    if (worldFault === 'API killed') await (spare as StartedProcess).kill();
    else await WORLD_FAULTS[worldFault](scene, random);
  }

  const stolen: string[] = [];
  async function steal(): Promise<void> {
    const { thief } = scene;
    if (random.below(2) === 0) {
      stolen.push(...(await lockForOneself(scene, { random, tally, thief })));
    }
    if (random.below(4) === 0) {
      stolen.push(...(await chargeUnproven(scene, { random, tally, thief })));
    }
  }
  const watch = { scene, look, advanceSeconds };
  const struck = strike();
  await untilDone([...episodes.map(({ play }) => play()), struck, steal()], watch);
  await untilDone(
    episodes.map(({ repeatBroken }) => repeatBroken(service.baseUrl)),
    watch,
  );
  await scene.sabotaged();
  const violations = [...stolen, ...(await endRound({ ...watch, known }))];
  const state = { ...(await look()), jobs: [...ended.values()] };
  violations.push(...auditRound({ scene, episodes, before, state, hasClockMoved, tally }));
  violations.push(...(await replayRequests(scene, { random, tally })));
  const settled = state.jobs.find(
    ({ status, worker }) =>
      status === 'settled' && scene.honest.some((one) => one.address === worker),
  );
  const wallet = scene.wallets.find(
    ({ creditAccount }) => creditAccount === settled?.creditAccount,
  );
  if (settled && wallet && random.below(4) === 0) {
    violations.push(...(await convictInnocent(scene, { tally, job: settled, wallet })));
  }
  for (const { outcome, errorCode, isReplay } of episodes.flatMap(({ received }) => received)) {
    tally.noteOutcome([isReplay ? 'replayed' : outcome, errorCode].join(' '));
  }
  for (const [address, failures] of await scene.failures()) {
    const isHonest = scene.honest.some((worker) => worker.address === address);
    if (!isHonest || failures === (failuresBefore.get(address) ?? 0)) continue;
    // A clock that leaps over its deadline makes any worker late.
    if (hasClockMoved) tally.noteOutcome('(an honest worker, late by a leap of the clock)');
    else violations.push('a failure was counted against an honest worker');
  }
  return violations.map((violation) => `[${worldFault}] ${violation}`);
}

interface Watch {
  scene: Scene;
  look: () => Promise<LedgerState>;
  advanceSeconds: (seconds: number) => Promise<void>;
}

/** Waits for all, and moves the ledger's clock once nothing moves any more. */
async function untilDone(
  playing: readonly Promise<void>[],
  { scene, look, advanceSeconds }: Watch,
): Promise<void> {
  let left = playing.length;
  let movedAtMs = performance.now();
  const all = Promise.all(
    playing.map(async (each) => {
      await each;
      left -= 1;
      movedAtMs = performance.now();
    }),
  );
  const startMs = performance.now();
  const steps = [...CLOCK_STEPS_SECONDS];
  while (left > 0) {
    await delay(POLL_MS);
    if (performance.now() - movedAtMs < QUIET_MS) continue;
    if (performance.now() - startMs > PATIENCE_MS) {
      throw new Error(`${left} clients got no answer, at any time of the clock`);
    }
    // An honest worker that is at work must not be made late.
    if ((await inFlightAtHonest(scene)) > 0) continue;
    const step = steps.shift();
    if (step === undefined) continue;
    await look();
    await advanceSeconds(step);
    movedAtMs = performance.now();
  }
  await all;
}

async function inFlightAtHonest({ honest }: Scene): Promise<number> {
  const counts = await Promise.all(honest.map((worker) => worker.inFlight()));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Waits for jobs whose clients are gone; 130 s after the last lock, none may be open. */
async function endRound({
  scene,
  look,
  advanceSeconds,
  known,
}: Watch & { known: ReadonlySet<string> }): Promise<string[]> {
  let open: JobAccount[] = [];
  for (const seconds of [0, ...CLOCK_STEPS_SECONDS]) {
    if (seconds > 0) await advanceSeconds(seconds);
    const startMs = performance.now();
    const waitMs = seconds === CLOCK_STEPS_SECONDS.at(-1) ? KEEPER_MS_MAX : QUIET_MS;
    do {
      open = (await look()).jobs.filter((job) => isOpen(job) && !known.has(job.id));
      if (open.length === 0) return [];
      await delay(POLL_MS);
    } while (performance.now() - startMs < waitMs || (await inFlightAtHonest(scene)) > 0);
  }
  return open.map(({ id, status }) => `job ${id} is ${status} after 131 s`);
}

function auditRound({
  scene,
  episodes,
  before,
  state,
  hasClockMoved,
  tally,
}: {
  scene: Scene;
  hasClockMoved: boolean;
  tally: Tally;
  episodes: readonly Episode[];
  before: LedgerState;
  state: LedgerState;
}): string[] {
  const violations = episodes.flatMap(({ wallet, question, received, isEndangered }) => {
    const credits = before.wallets.get(wallet.creditAccount)?.availableCredits ?? 0n;
    const broken = received.findLast(({ outcome }) => outcome === 'broken');
    return [
      ...auditWallet(
        {
          ...wallet,
          received,
          availableBefore: credits,
          mayBeUnpaid: isEndangered || hasClockMoved,
          onUnpaid: () => tally.noteOutcome('whole, and unpaid'),
        },
        state,
      ),
      ...(broken && !isEndangered ? [`a connection broke: ${JSON.stringify(received)}`] : []),
      ...state.jobs.flatMap((job) => {
        if (job.creditAccount !== wallet.creditAccount || job.chargedCredits === 0n) return [];
        const whole = received.find(
          ({ outcome, jobId }) => outcome === 'whole' && jobId === job.id,
        );
        const wrong = scene.judge(job, { question, whole });
        return wrong === undefined
          ? []
          : [`job ${job.id} was charged ${wrong}; received ${JSON.stringify(received)}`];
      }),
    ];
  });
  for (const [address, { stakeTokens, status }] of before.workers) {
    const now = state.workers.get(address);
    if (now?.stakeTokens !== stakeTokens) violations.push(`the stake of ${address} changed`);
    if (now?.status !== status) violations.push(`${address} became ${now?.status}`);
  }
  return violations;
}
