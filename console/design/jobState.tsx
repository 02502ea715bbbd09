import type { ConsoleJob } from '../../api/contracts/index.ts';
import { State, type Tone } from './state.tsx';

const TONES: Readonly<Record<ConsoleJob['status'], Tone>> = {
  pending: 'live',
  processing: 'live',
  settling: 'live',
  settled: 'ok',
  failed: 'bad',
  refunded: 'idle',
  disputed: 'warn',
};

export function JobState({ status }: Pick<ConsoleJob, 'status'>) {
  return <State tone={TONES[status]} word={status} />;
}

export const JOB_STATES = Object.keys(TONES) as readonly ConsoleJob['status'][];
