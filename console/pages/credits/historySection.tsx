import { Link } from 'wouter';
import type { AccountHistory } from '../../../api/contracts/index.ts';
import { POLL_MS } from '../../data/queries.ts';
import { usePages } from '../../data/usePages.ts';
import { formatCount } from '../../design/formats.ts';
import { Reading } from '../../design/notice.tsx';
import { ReadMore, Section } from '../../design/page.tsx';
import { Table } from '../../design/table.tsx';
import { Ago } from '../../design/time.tsx';
import { shortenJobId, Transaction } from '../../design/values.tsx';

type Change = AccountHistory['data'][number];

const keyOfRow = ({ sequence }: Change) => sequence;

/** `JobSettled` → `Job settled`. */
const words = (event: string) =>
  event.replace(/(?<=.)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function signed(credits: number): string {
  if (credits === 0) return '–';
  return credits > 0 ? `+${formatCount(credits)}` : `−${formatCount(-credits)}`;
}

/** Every change of the account, as the ledger's events state it: one row for each job. */
export function HistorySection() {
  const history = usePages('/account/history', { keyOfRow, everyMs: POLL_MS.changes });
  return (
    <Section title="History" lead="From the ledger's events, newest first.">
      <Reading of={history} what="the history" />
      {history.rows && (
        <Table<Change>
          caption="Changes of the credit account"
          rows={history.rows}
          rowKey={keyOfRow}
          columns={[
            { title: 'Time', cell: ({ at }) => <Ago time={at} /> },
            {
              title: 'Change',
              isKey: true,
              cell: ({ event, job_id }) => (
                <>
                  {words(event)}
                  {job_id && (
                    <div>
                      <Link href={`/console/jobs/${job_id}`} className="mono">
                        {shortenJobId(job_id)}
                      </Link>
                    </div>
                  )}
                </>
              ),
            },
            {
              title: 'Charged',
              isNumber: true,
              cell: ({ charged_credits: charged }) => charged !== null && formatCount(charged),
            },
            {
              title: 'Available',
              isKey: true,
              isNumber: true,
              cell: ({ available_change_credits: change, available_credits: after }) => (
                <Amount change={change} after={after} />
              ),
            },
            {
              title: 'Locked',
              isNumber: true,
              cell: ({ locked_change_credits: change, locked_credits: after }) => (
                <Amount change={change} after={after} />
              ),
            },
            { title: 'Transaction', cell: ({ tx }) => <Transaction signature={tx} /> },
          ]}
        />
      )}
      <ReadMore of={history} />
    </Section>
  );
}

/** By how much an amount changed, and what it then was, where the event states that. */
function Amount({ change, after }: { change: number; after: number | null }) {
  return (
    <>
      {signed(change)}
      {after !== null && <div className="soft">{formatCount(after)}</div>}
    </>
  );
}
