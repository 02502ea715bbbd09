import type { ConsoleWorker } from '../../../api/contracts/index.ts';
import { POLL_MS, useRead } from '../../data/queries.ts';
import { formatCount, formatMs } from '../../design/formats.ts';
import { Empty, Reading } from '../../design/notice.tsx';
import { PageHeader } from '../../design/page.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Over } from '../../design/values.tsx';
import { APP_PAGES } from '../../routes.ts';
import { formatStake, UPTIME_COLUMN, WORKER_COLUMNS } from './workerValues.tsx';

const columns: readonly Column<ConsoleWorker>[] = [
  ...WORKER_COLUMNS,
  { title: 'Models', isText: true, cell: ({ models }) => models.join(', ') || '–' },
  UPTIME_COLUMN,
  {
    title: 'First token p50 / p95',
    isNumber: true,
    cell: ({ first_token_p50_ms, first_token_p95_ms }) => (
      <Over below={formatMs(first_token_p95_ms)}>{formatMs(first_token_p50_ms)}</Over>
    ),
  },
  { title: 'Stake', isNumber: true, cell: ({ stake_tokens }) => formatStake(stake_tokens) },
  { title: 'Jobs settled', isNumber: true, cell: ({ jobs_settled }) => formatCount(jobs_settled) },
];

export default function WorkersPage() {
  const workers = useRead('/workers', { everyMs: POLL_MS.sums });
  const { data } = workers;
  return (
    <>
      <PageHeader {...APP_PAGES['/console/workers'].head} />
      <Reading of={workers} what="the workers" />
      {data && (
        <Table
          caption="Registered workers"
          columns={columns}
          rows={data.data}
          rowKey={({ address }) => address}
          empty={
            <Empty title="No worker is registered">
              <p>
                Anybody with stake tokens can run one, with{' '}
                <a href="/packages/">the packages of this service</a>.
              </p>
            </Empty>
          }
        />
      )}
      {data && data.data.length > 0 && (
        <p className="soft">
          At least {formatStake(data.minimum_stake_tokens)} tokens have to be at stake.
        </p>
      )}
    </>
  );
}
