import type { ConsoleWorker } from '../../../api/console/contracts/index.ts';
import { State, type Tone } from '../../design/state.tsx';

/** Tokens of the stake, from their smallest unit. */
export function formatStake(amount: string, decimals: number): string {
  const digits = amount.padStart(decimals + 1, '0');
  const whole = BigInt(digits.slice(0, digits.length - decimals)).toLocaleString('en-US');
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return rest ? `${whole}.${rest}` : whole;
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
