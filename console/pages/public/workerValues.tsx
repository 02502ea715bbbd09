import { Link } from 'wouter';
import type { ConsoleWorker } from '../../../api/contracts/index.ts';
import { formatCount } from '../../design/formats.ts';
import type { Column } from '../../design/table.tsx';
import { Address, State, type Tone } from '../../design/values.tsx';

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

/** What every list of workers shows first: which one, and whether it answers. */
export const WORKER_COLUMNS: readonly Column<ConsoleWorker>[] = [
  {
    title: 'Worker',
    cell: ({ address }) => (
      <Link href={`/console/workers/${address}`}>
        <Address address={address} />
      </Link>
    ),
  },
  { title: 'State', isKey: true, cell: WorkerState },
];

export const UPTIME_COLUMN: Column<ConsoleWorker> = {
  title: 'Uptime, 24 h',
  isNumber: true,
  isKey: true,
  cell: ({ uptime_24h }) => formatShare(uptime_24h),
};
