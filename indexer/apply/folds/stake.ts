import { timeOrNull } from '../absent.ts';
import { type Change, type EventOf, update } from '../change.ts';

/** All three carry the stake as it is afterwards. */
type StakeEvent = EventOf<'StakeDeposited'> | EventOf<'StakeUnlocked'> | EventOf<'StakeWithdrawn'>;

export function foldStake({ data }: StakeEvent): readonly Change[] {
  return [
    update(
      'workers',
      { address: data.worker, sequence: data.workerSequence },
      {
        stake_tokens: data.stakeTokens,
        unstaking_tokens: data.unstakingTokens,
        unstake_ready_at: timeOrNull(data.unstakeReadyAt),
      },
    ),
  ];
}
