import { useEffect } from 'react';
import { useLocation, useParams, useSearch } from 'wouter';
import { useRead } from '../../data/queries.ts';
import { addressOf } from '../../data/request.ts';
import { type ChangeFilters, fieldTime, filterField, useFilters } from '../../data/useFilters.ts';
import { buttonClass } from '../../design/button.tsx';
import { CompletionCode } from '../../design/completionCode.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Empty, Reading } from '../../design/notice.tsx';
import { dialogOnUse } from '../../design/onUse.tsx';
import { Filters, PageHeader } from '../../design/page.tsx';
import { JOB_STATES } from '../../design/values.tsx';
import { APP_PAGES } from '../../routes.ts';
import { afterPaint } from '../../screen/afterPaint.ts';
import { Histogram } from './histogram.tsx';
import { JobList } from './jobList.tsx';
import { type JobFilters, useJobs } from './useJobs.ts';

const JobDrawer = dialogOnUse(() => import('./jobDrawer.tsx'));

const FILTERS = ['status', 'model', 'since', 'until', 'id'] as const;

export default function JobsPage() {
  const { job } = useParams();
  const [, navigate] = useLocation();
  const search = useSearch();
  const [filters, setFilters] = useFilters(FILTERS);
  const list = useJobs(filters);
  const hasJobs = list.rows !== undefined && list.rows.length > 0;
  useEffect(() => {
    // While the list is read by its reader, so that a drawer opens at once.
    if (hasJobs) void JobDrawer.load().catch(() => undefined);
  }, [hasJobs]);
  const isFiltered = FILTERS.some((name) => filters[name] !== undefined);
  const withSearch = (path: string) => (search ? `${path}?${search}` : path);
  const { status, model, since, until } = list.query;
  return (
    <>
      <PageHeader {...APP_PAGES['/console/jobs'].head}>
        <a
          href={addressOf('/jobs.csv', { query: { status, model, since, until } })}
          className={buttonClass()}
          download="jobs.csv"
        >
          Download CSV
        </a>
      </PageHeader>
      <JobFilterFields filters={filters} isIdWrong={list.isIdWrong} onChange={setFilters} />
      {filters.id === undefined && (
        <Histogram
          times={{ since, until }}
          model={filters.model}
          onNarrow={(times) =>
            afterPaint(() =>
              setFilters({ since: fieldTime(times.since), until: fieldTime(times.until) }),
            )
          }
          onWiden={
            since || until
              ? () => afterPaint(() => setFilters({ since: undefined, until: undefined }))
              : undefined
          }
        />
      )}
      <Reading of={list} what="the jobs" />
      {list.rows &&
        (hasJobs ? (
          <JobList
            jobs={list.rows}
            hasMore={list.hasMore && list.error === null}
            onMore={list.readMore}
            onOpen={(id) => afterPaint(() => navigate(withSearch(`/console/jobs/${id}`)))}
            linkOf={(id) => withSearch(`/console/jobs/${id}`)}
          />
        ) : (
          <NoJobs isFiltered={isFiltered} />
        ))}
      {job && <JobDrawer id={job} onClose={() => navigate(withSearch('/console/jobs'))} />}
    </>
  );
}

function JobFilterFields(props: {
  filters: JobFilters;
  isIdWrong: boolean;
  onChange: ChangeFilters<keyof JobFilters>;
}) {
  const { filters, isIdWrong, onChange } = props;
  const models = useRead('/models').data?.data ?? [];
  const { since, until } = filters;
  const field = filterField(filters, onChange);
  return (
    <Filters label="Jobs to show">
      <SelectField options={[['', 'any state'], ...JOB_STATES]} {...field('status', 'State')} />
      <SelectField
        options={[['', 'any model'], ...models.map(({ id }) => id)]}
        {...field('model', 'Model')}
      />
      <TextField type="datetime-local" {...field('since', 'From (UTC)')} value={fieldTime(since)} />
      <TextField
        type="datetime-local"
        {...field('until', 'Before (UTC)')}
        value={fieldTime(until)}
      />
      <TextField
        isCode
        placeholder="job_…"
        error={isIdWrong ? 'job_ and 32 hexadecimal digits.' : undefined}
        {...field('id', 'Job id')}
      />
    </Filters>
  );
}

function NoJobs({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No job fits">
        <p className="soft">Change the filters above.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No jobs yet">
      <p className="soft">Each request is a job. Send the first one with your API key:</p>
      <CompletionCode />
    </Empty>
  );
}
