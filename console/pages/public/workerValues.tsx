import type { ConsoleWorker } from '../../../api/console/contracts/index.ts';
import { formatCount } from '../../design/formats.ts';
import { State, type Tone } from '../../design/state.tsx';

/** The program counts stakes in whole tokens. */
export function formatStake(tokens: string): string {
  return formatCount(BigInt(tokens));
}

export function formatShare(share: number | null): string {
  return share === null ? '–' : `${(share * 100).toFixed(share < 0.9995 ? 1 : 0)} %`;
}

export function WorkerState({ status, is_answering }: ConsoleWorker) {
  const [tone, word] = stateOf(status, is_answering);
  return <State tone={tone} word={word} />;
}

function stateOf(status: ConsoleWorker['status'], isAnswering: boolean): [Tone, string] {
  if (status !== 'active') return [status === 'suspended' ? 'bad' : 'idle', status];
  return isAnswering ? ['ok', 'answering'] : ['warn', 'not answering'];
}
