import { useState } from 'react';
import { mayRead } from '../../data/access.ts';
import { POLL_MS, useRead } from '../../data/queries.ts';
import { Button } from '../../design/button.tsx';
import { Empty, Notice, Reading } from '../../design/notice.tsx';
import { dialogOnUse } from '../../design/onUse.tsx';
import { PageHeader } from '../../design/page.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { formatLeft } from '../../design/time.tsx';
import { Address, Credits, State, shortenJobId } from '../../design/values.tsx';
import { useLedgerTime } from '../../ledger/useLedgerTime.ts';
import { APP_PAGES } from '../../routes.ts';
import { useSignedIn } from '../../session/signedIn.tsx';
import type { OpenDispute } from './evidence.ts';

const VerdictDrawer = dialogOnUse(() => import('./verdictDrawer.tsx'));

export default function ArbiterPage() {
  const isArbiter = mayRead('/arbiter/disputes', useSignedIn());
  const read = useRead('/arbiter/disputes', { everyMs: POLL_MS.changes, enabled: isArbiter });
  const { data } = read;
  const { nowMs: now, read: time } = useLedgerTime();
  const [opened, setOpened] = useState<string>();
  const dispute = data?.data.find(({ job_id }) => job_id === opened);
  return (
    <>
      <PageHeader {...APP_PAGES['/console/arbiter'].head} />
      {!isArbiter && (
        <Notice tone="info">
          <p>This wallet is not the arbiter. Only the arbiter sees and decides disputes here.</p>
        </Notice>
      )}
      <Reading of={read} what="the disputes" money="The charges stand as they were." />
      {time.error && <Reading of={time} what="the ledger's time" />}
      {data && (
        <Table
          caption="Open disputes"
          columns={columnsOf(now, setOpened)}
          rows={data.data}
          rowKey={({ job_id }) => job_id}
          empty={
            <Empty title="No open dispute">
              <p className="soft">Clients have 60 seconds from the settlement.</p>
              <p className="soft">The arbiter has 24 hours from the dispute.</p>
            </Empty>
          }
        />
      )}
      {dispute && <VerdictDrawer dispute={dispute} onClose={() => setOpened(undefined)} />}
    </>
  );
}

function columnsOf(
  now: number | undefined,
  onOpen: (job: string) => void,
): readonly Column<OpenDispute>[] {
  return [
    {
      title: 'Job',
      cell: ({ job_id }) => (
        <span className="mono">
          <Button kind="link" onClick={() => onOpen(job_id)}>
            {shortenJobId(job_id)}
          </Button>
        </span>
      ),
    },
    {
      title: 'Verdict possible',
      isKey: true,
      cell: ({ judged_from, arbitration_ends_at }) => (
        <When from={judged_from} until={arbitration_ends_at} now={now} />
      ),
    },
    { title: 'Wallet', cell: ({ wallet }) => <Address address={wallet} what="wallet" /> },
    {
      title: 'Worker',
      cell: ({ worker_address }) =>
        worker_address === null ? '–' : <Address address={worker_address} what="worker" />,
    },
    {
      title: 'Charged',
      isKey: true,
      isNumber: true,
      cell: ({ credits_charged }) => <Credits credits={credits_charged} />,
    },
  ];
}

function When(props: { from: string | null; until: string | null; now: number | undefined }) {
  const { from, until, now } = props;
  if (now === undefined || until === null) return <>–</>;
  if (from !== null && now <= Date.parse(from)) {
    return <State tone="live" word={`in ${formatLeft(Date.parse(from) - now)}`} />;
  }
  const leftMs = Date.parse(until) - now;
  return leftMs > 0 ? (
    <State tone="warn" word={`${formatLeft(leftMs)} left`} />
  ) : (
    <State tone="idle" word="too late: it expires" />
  );
}
