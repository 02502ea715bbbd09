import {
  type Change,
  creation,
  type EventOf,
  type Fold,
  keyOrNull,
  timeOrNull,
  update,
} from './change.ts';

export const foldWorkerRegistered: Fold<'WorkerRegistered'> = ({ data }) => [
  creation('workers', data.worker, {
    authority: data.authority,
    proof_key: data.proofKey,
    payout: data.payout,
    endpoint: data.endpoint,
    status: 'active',
    stake_tokens: 0,
    unstaking_tokens: 0,
    unstake_ready_at: null,
    claimable_base_units: 0,
    jobs_settled: 0,
    registered_at: data.unixTime,
    unstake_cooldown_seconds: 0,
    previous_proof_key: null,
    proof_key_changed_at: null,
  }),
];

export const foldWorkerUpdated: Fold<'WorkerUpdated'> = ({ data }) => [
  update(
    'workers',
    { address: data.worker, sequence: data.workerSequence },
    {
      proof_key: data.proofKey,
      payout: data.payout,
      endpoint: data.endpoint,
      previous_proof_key: keyOrNull(data.previousProofKey),
      proof_key_changed_at: timeOrNull(data.proofKeyChangedAt),
    },
  ),
];

export const foldWorkerHosted: Fold<'WorkerHosted'> = ({ data }) => [
  {
    ...update('workers', { address: data.worker, sequence: data.workerSequence }, {}),
    hosting: { model: data.model, hosts: true },
  },
];

export const foldWorkerUnhosted: Fold<'WorkerUnhosted'> = ({ data }) => [
  {
    ...update('workers', { address: data.worker, sequence: data.workerSequence }, {}),
    hosting: { model: data.model, hosts: false },
  },
];

export const foldWorkerSuspended: Fold<'WorkerSuspended'> = ({ data }) => [
  update(
    'workers',
    { address: data.worker, sequence: data.workerSequence },
    { status: data.suspended ? 'suspended' : 'active' },
  ),
];

export const foldWorkerDeregistered: Fold<'WorkerDeregistered'> = ({ data }) => [
  update(
    'workers',
    { address: data.worker, sequence: data.workerSequence },
    { status: 'deregistered' },
  ),
];

/** All three carry the stake as it is afterwards; a deposit can also lower the cooldown. */
type StakeEvent = EventOf<'StakeDeposited'> | EventOf<'StakeUnlocked'> | EventOf<'StakeWithdrawn'>;

export function foldStake({ name, data }: StakeEvent): readonly Change[] {
  return [
    update(
      'workers',
      { address: data.worker, sequence: data.workerSequence },
      {
        stake_tokens: data.stakeTokens,
        unstaking_tokens: data.unstakingTokens,
        unstake_ready_at: timeOrNull(data.unstakeReadyAt),
        ...(name === 'StakeDeposited' && {
          unstake_cooldown_seconds: data.unstakeCooldownSeconds,
        }),
      },
    ),
  ];
}
