import { useParams } from 'wouter';
import type { WorkerDetail } from '../../../api/contracts/index.ts';
import { useExplorer } from '../../data/ledger.ts';
import { POLL_MS, useRead } from '../../data/queries.ts';
import { DayStrip } from '../../design/dayStrip.tsx';
import { formatCount, formatMinute, formatMs, formatTime } from '../../design/formats.ts';
import { Reading } from '../../design/notice.tsx';
import { Facts, Numbers, PageHeader, Row, Section } from '../../design/page.tsx';
import { Table } from '../../design/table.tsx';
import { Ago, Time, useNow } from '../../design/time.tsx';
import { Address, Transaction } from '../../design/values.tsx';
import { ModelLink } from './modelLink.tsx';
import { formatShare, formatStake, WorkerState } from './workerValues.tsx';

const HOUR_MS = 3_600_000;
const HOURS_SHOWN = 72;

export default function WorkerPage() {
  const { worker = '' } = useParams();
  const read = useRead('/workers/:worker', { params: { worker }, everyMs: POLL_MS.sums });
  const { data } = read;
  return (
    <>
      <PageHeader title={`Worker ${worker.slice(0, 4)}…${worker.slice(-4)}`}>
        {data && <WorkerState {...data} />}
      </PageHeader>
      <Reading of={read} what="the worker" />
      {data && <Detail worker={data} />}
    </>
  );
}

function Detail({ worker }: { worker: WorkerDetail }) {
  const newest = useNow(HOUR_MS);
  return (
    <>
      <Section title="Service">
        <Numbers
          entries={[
            ['Uptime, 24 h', formatShare(worker.uptime_24h)],
            ['First token p50', formatMs(worker.first_token_p50_ms)],
            ['First token p95', formatMs(worker.first_token_p95_ms)],
            ['Jobs settled', formatCount(worker.jobs_settled)],
            ['Stake', formatStake(worker.stake_tokens)],
          ]}
        />
      </Section>
      <Section title={`Probes, the last ${HOURS_SHOWN} hours`}>
        <DayStrip
          label={`Hours in which the worker answered, ${HOURS_SHOWN} hours`}
          from={`${HOURS_SHOWN} hours ago`}
          spans={lastHours(worker.hours, newest)}
        />
      </Section>
      <LedgerFacts worker={worker} />
      <Section title="Slashes">
        <Table
          caption="Slashes of this worker"
          rows={worker.slashes}
          rowKey={({ tx }) => tx}
          empty={
            <p className="soft">None. No two proofs of one attempt have convicted this worker.</p>
          }
          columns={[
            { title: 'Time', cell: ({ at }) => <Ago time={at} /> },
            { title: 'Job', cell: ({ job_id }) => job_id ?? '–' },
            {
              title: 'Tokens',
              isKey: true,
              isNumber: true,
              cell: ({ stake_tokens }) => formatStake(stake_tokens),
            },
            { title: 'Transaction', isKey: true, cell: ({ tx }) => <Transaction signature={tx} /> },
          ]}
        />
      </Section>
    </>
  );
}

function LedgerFacts({ worker }: { worker: WorkerDetail }) {
  const explorer = useExplorer();
  const { address, unstaking_tokens, unstake_ready_at } = worker;
  const ready = unstake_ready_at ? `, ready ${formatTime(unstake_ready_at)}` : '';
  return (
    <Section title="On the ledger">
      <Facts
        entries={[
          ['Address', <Address key="a" address={address} href={explorer.address(address)} />],
          ['Authority', <Address key="b" address={worker.authority} />],
          ['Payout account', <Address key="c" address={worker.payout} />],
          ['Proof key', <Address key="d" address={worker.proof_key} />],
          ['Endpoint', <code key="e">{worker.endpoint}</code>],
          [
            'Models',
            worker.models.length === 0 ? (
              '–'
            ) : (
              <Row key="models">
                {worker.models.map((id) => (
                  <ModelLink key={id} id={id} />
                ))}
              </Row>
            ),
          ],
          ['Registered', <Time key="f" time={worker.registered_at} />],
          ['Unstaking', unstaking_tokens !== '0' && `${formatStake(unstaking_tokens)}${ready}`],
        ]}
      />
    </Section>
  );
}

/** @param newest the beginning of the present hour, in Unix milliseconds */
function lastHours(hours: WorkerDetail['hours'], newest: number) {
  const byHour = new Map(hours.map((one) => [Date.parse(one.hour), one]));
  return Array.from({ length: HOURS_SHOWN }, (_, index) => {
    const found = byHour.get(newest - (HOURS_SHOWN - 1 - index) * HOUR_MS);
    return found && { name: `${formatMinute(found.hour)} UTC`, ...found };
  });
}
