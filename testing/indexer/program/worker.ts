import { type Instruction, MODEL, NO_KEY, type WorkerAccount } from './programState.ts';

const STAKE_TOKENS = 2_000n;

/** Which worker an event is about, at its sequence. */
function workerOf({ worker, sequence }: WorkerAccount) {
  return { worker, workerSequence: `${sequence}` };
}

export const registerWorker =
  (worker: string): Instruction =>
  ({ workers }, now) => {
    if (workers.has(worker)) return null;
    const registered = {
      ...{ worker, sequence: 1n, stakeTokens: 0n, claimableBaseUnits: 0n, jobsSettled: 0n },
      hosts: false,
    };
    workers.set(worker, registered);
    const keys = { authority: worker, proofKey: worker, payout: worker };
    return {
      name: 'WorkerRegistered',
      data: { ...now, ...workerOf(registered), ...keys, endpoint: 'https://worker.example' },
    };
  };

export const updateWorker =
  (worker: string, endpoint: string): Instruction =>
  ({ workers }, now) => {
    const updated = workers.get(worker);
    if (!updated) return null;
    updated.sequence += 1n;
    const keys = { authority: worker, proofKey: worker, payout: worker };
    const unchanged = { previousProofKey: NO_KEY, proofKeyChangedAt: '0' };
    return {
      name: 'WorkerUpdated',
      data: { ...now, ...workerOf(updated), ...keys, ...unchanged, endpoint },
    };
  };

export const depositStake =
  (worker: string): Instruction =>
  ({ workers }, now) => {
    const staked = workers.get(worker);
    if (!staked) return null;
    staked.sequence += 1n;
    staked.stakeTokens += STAKE_TOKENS;
    return {
      name: 'StakeDeposited',
      data: {
        ...{ ...now, ...workerOf(staked), tokens: `${STAKE_TOKENS}` },
        ...{ stakeTokens: `${staked.stakeTokens}`, unstakingTokens: '0', unstakeReadyAt: '0' },
        unstakeCooldownSeconds: 172_800,
      },
    };
  };

/** Hosts the model, or no longer. */
export const setHosting =
  (worker: string, hosts: boolean): Instruction =>
  ({ workers }, now) => {
    const host = workers.get(worker);
    if (!host || host.hosts === hosts) return null;
    host.sequence += 1n;
    host.hosts = hosts;
    const data = { ...now, ...workerOf(host), model: MODEL.address };
    return { name: hosts ? 'WorkerHosted' : 'WorkerUnhosted', data };
  };
