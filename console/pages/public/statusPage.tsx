import type { StatusAnswer } from '../../../api/console/contracts/index.ts';
import { useRead } from '../../data/queries.ts';
import { DayStrip } from '../../design/dayStrip.tsx';
import { formatCount } from '../../design/formats.ts';
import { Reading } from '../../design/notice.tsx';
import { Numbers, PageHeader, Section } from '../../design/page.tsx';
import { State } from '../../design/state.tsx';
import { Table } from '../../design/table.tsx';
import { Ago } from '../../design/time.tsx';
import { APP_PAGES } from '../../routes.ts';

const DAY_MS = 86_400_000;
const DAYS = 90;

/** What each part's absence means for those who use the service. */
const CONSEQUENCES = {
  database: 'Without it the API answers 503; the ledger goes on.',
  ledger: 'Without it nothing is locked; reads come from the mirror.',
  program: 'Without it on the ledger nothing can be locked.',
  gateway: 'Without it, or while it is stopped, nothing new is locked.',
  signer: 'Without one that the gateway names, nothing can be signed.',
  fee_payers: 'Without SOL for fees nothing can be sent.',
  catalog: 'Without the models on the ledger no request has a price.',
  workers: 'Without one that answers, requests get 503 and nothing is locked.',
  mirror: 'While it is behind, balances and jobs shown here are old.',
} as const satisfies Record<keyof StatusAnswer['parts'], string>;

const STATES = {
  ok: { tone: 'ok', word: 'works' },
  away: { tone: 'bad', word: 'away' },
  unknown: { tone: 'idle', word: 'not known' },
} as const;

export default function StatusPage() {
  const read = useRead('/status', { everyMs: 5_000 });
  // What was read before says nothing of now, when the API itself does not answer.
  const status = read.error ? undefined : read.data;
  return (
    <>
      <PageHeader {...APP_PAGES['/console/status'].head}>
        {(status || read.error) && <Overall isReady={status?.is_ready} />}
      </PageHeader>
      <Reading
        of={{ ...read, data: status }}
        what="the status"
        money="Credits are on the ledger, and locked ones come back by themselves."
      />
      {(status || read.error) && <Parts parts={status?.parts} />}
      {status && <Backlog status={status} />}
    </>
  );
}

function Overall({ isReady }: { readonly isReady: boolean | undefined }) {
  if (isReady === undefined) return <State tone="bad" word="not known at present" />;
  return isReady ? (
    <State tone="ok" word="takes requests" />
  ) : (
    <State tone="bad" word="does not take requests" />
  );
}

function Parts({ parts }: { readonly parts: StatusAnswer['parts'] | undefined }) {
  const names = Object.keys(CONSEQUENCES) as (keyof StatusAnswer['parts'])[];
  return (
    <Section title="Parts">
      <Table
        caption="Parts of the service"
        rows={names}
        rowKey={(name) => name}
        columns={[
          { title: 'Part', cell: (name) => name.replaceAll('_', ' ') },
          {
            title: 'State',
            cell: (name) => <State {...STATES[parts?.[name] ?? 'unknown']} />,
          },
          { title: 'If it is away', cell: (name) => CONSEQUENCES[name] },
        ]}
      />
    </Section>
  );
}

function Backlog({ status: { mirror, queues, days, as_of } }: { readonly status: StatusAnswer }) {
  const show = (count: number | null | undefined) => (count == null ? '–' : formatCount(count));
  return (
    <>
      <Section title="Mirror and queues">
        <Numbers
          entries={[
            ['Mirror behind, slots', show(mirror.lag_slots)],
            ['Mirrored slot', show(mirror.slot)],
            ['Running jobs', show(queues?.running_jobs)],
            ['Deliveries due', show(queues?.webhook_deliveries_due)],
            ['Open disputes', show(queues?.open_disputes)],
          ]}
        />
      </Section>
      {days && (
        <Section
          title={`Workers, the last ${DAYS} days`}
          lead="Probes that were answered, by day of UTC."
        >
          <DayStrip
            label={`Days in which workers answered, ${DAYS} days`}
            from={`${DAYS} days ago`}
            spans={lastDays(days, as_of)}
          />
        </Section>
      )}
      <p className="soft">
        Read <Ago time={as_of} />.
      </p>
    </>
  );
}

function lastDays(days: NonNullable<StatusAnswer['days']>, as_of: string) {
  const byDay = new Map(days.map((one) => [one.day, one]));
  return Array.from({ length: DAYS }, (_, index) => {
    const day = new Date(Date.parse(as_of) - (DAYS - 1 - index) * DAY_MS)
      .toISOString()
      .slice(0, 10);
    const found = byDay.get(day);
    return found && { name: day, ...found };
  });
}
