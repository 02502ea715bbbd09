import type { StatusAnswer } from '../../../api/contracts/index.ts';
import { POLL_MS, useRead } from '../../data/queries.ts';
import { DayStrip } from '../../design/dayStrip.tsx';
import { formatCount } from '../../design/formats.ts';
import { Reading } from '../../design/notice.tsx';
import { Numbers, PageHeader, Section } from '../../design/page.tsx';
import { Table } from '../../design/table.tsx';
import { Ago, Time } from '../../design/time.tsx';
import { State } from '../../design/values.tsx';
import { APP_PAGES } from '../../routes.ts';
import { lastDays } from './lastDays.ts';

const MINUTE_MS = 60_000;
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
  const read = useRead('/status', { everyMs: POLL_MS.changes });
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
      {(status || read.error) && <Parts status={status} />}
      {status?.history && <Incidents incidents={status.history.incidents} />}
      {status && <Backlog status={status} />}
    </>
  );
}

function Overall({ isReady }: { isReady: boolean | undefined }) {
  if (isReady === undefined) return <State tone="bad" word="not known at present" />;
  return isReady ? (
    <State tone="ok" word="takes requests" />
  ) : (
    <State tone="bad" word="does not take requests" />
  );
}

type PartName = keyof StatusAnswer['parts'];

function Parts({ status }: { status: StatusAnswer | undefined }) {
  const names = Object.keys(CONSEQUENCES) as PartName[];
  const { parts, history, as_of = '' } = status ?? {};
  const days = history && lastDays(history.days, DAYS, Date.parse(as_of));
  return (
    <Section title="Parts" lead={days && 'As APIs recorded them once a minute, by day of UTC.'}>
      <Table
        caption="Parts of the service"
        rows={names}
        rowKey={(name) => name}
        columns={[
          { title: 'Part', cell: (name) => name.replaceAll('_', ' ') },
          {
            title: 'State',
            isKey: true,
            cell: (name) => <State {...STATES[parts?.[name] ?? 'unknown']} />,
          },
          {
            title: `The last ${DAYS} days`,
            isText: true,
            cell: (name) => days && <PartDays name={name} days={days} />,
          },
          { title: 'If it is away', isText: true, cell: (name) => CONSEQUENCES[name] },
        ]}
      />
    </Section>
  );
}

type RecordedDay = NonNullable<StatusAnswer['history']>['days'][number];

/** Nothing is recorded while the database is away: its days show the others alone. */
function PartDays({ name, days }: { name: PartName; days: readonly (RecordedDay | undefined)[] }) {
  return (
    <DayStrip
      label={`Days in which the ${name.replaceAll('_', ' ')} worked, ${DAYS} days`}
      words="minutes it worked"
      spans={days.map(
        (one) =>
          one && {
            name: one.day,
            probes: one.minutes,
            answered: one.minutes - (one.away[name] ?? 0),
          },
      )}
    />
  );
}

type Incident = NonNullable<StatusAnswer['history']>['incidents'][number];

function Incidents({ incidents }: { incidents: readonly Incident[] }) {
  return (
    <Section
      title="Incidents"
      lead="Minutes in a row in which a part was away for every API. Where nothing was recorded, every API or the database was away."
    >
      <Table<Incident>
        caption="Incidents"
        rows={incidents}
        rowKey={({ part, began_at }) => `${part} ${began_at}`}
        columns={[
          { title: 'Began', cell: ({ began_at }) => <Time time={began_at} /> },
          {
            title: 'Part',
            isKey: true,
            cell: ({ part, ended_at }) => (
              <State
                tone={ended_at === null ? 'bad' : 'idle'}
                word={part === 'api' ? 'nothing recorded' : part.replaceAll('_', ' ')}
              />
            ),
          },
          {
            title: 'Lasted',
            isNumber: true,
            isKey: true,
            cell: ({ began_at, ended_at }) =>
              ended_at === null
                ? 'still away'
                : `${formatCount((Date.parse(ended_at) - Date.parse(began_at)) / MINUTE_MS)} min`,
          },
        ]}
        empty={<p className="soft">None in the last {DAYS} days.</p>}
      />
    </Section>
  );
}

function Backlog({ status: { mirror, queues, days, as_of } }: { status: StatusAnswer }) {
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
            spans={lastDays(days, DAYS, Date.parse(as_of)).map(
              (one) => one && { name: one.day, ...one },
            )}
          />
        </Section>
      )}
      <p className="soft">
        Read <Ago time={as_of} />.
      </p>
    </>
  );
}
