import type { LatencyAnswer, UsageAnswer } from '../../../api/contracts/index.ts';
import { POLL_MS, useRead } from '../../data/queries.ts';
import { filterField, useFilters } from '../../data/useFilters.ts';
import { SelectField } from '../../design/field.tsx';
import { countOf, formatCount, formatMs } from '../../design/formats.ts';
import { Empty, Reading } from '../../design/notice.tsx';
import { Filters, Numbers, PageHeader, Section } from '../../design/page.tsx';
import { Table } from '../../design/table.tsx';
import { useNow } from '../../design/time.tsx';
import { formatUsdc, Over } from '../../design/values.tsx';
import { APP_PAGES } from '../../routes.ts';
import { UsageChart } from './usageChart.tsx';
import { periodOf, ratesOf, SPANS, STEPS_MS, sumOf } from './usageValues.ts';

const MEASURES = [
  ['credits', 'credits charged'],
  ['tokens', 'tokens'],
  ['jobs', 'jobs'],
] as const;

export default function UsagePage() {
  const [filters, setFilters] = useFilters(['span', 'model', 'measure']);
  const { span = '30d', model, measure = 'credits' } = filters;
  const field = filterField({ ...filters, span, measure }, setFilters);
  const period = periodOf(span, useNow(STEPS_MS.hour));
  const usage = useRead('/usage', { query: { ...period, model }, everyMs: POLL_MS.sums });
  const latencies = useRead('/usage/latency', {
    query: { since: period.latencySince, until: period.until },
    everyMs: POLL_MS.sums,
  });
  const models = useRead('/models').data?.data ?? [];
  return (
    <>
      <PageHeader {...APP_PAGES['/console/usage'].head} />
      <Filters label="Usage to show">
        <SelectField
          options={SPANS.map(([value, words]) => [value, words] as const)}
          {...field('span', 'Time')}
        />
        <SelectField
          options={[['', 'every model'], ...models.map(({ id }) => id)]}
          {...field('model', 'Model')}
        />
        <SelectField options={MEASURES} {...field('measure', 'Measure')} />
      </Filters>
      <Reading of={usage} what="the usage" />
      {usage.data && <UsageSections usage={usage.data} measure={measure} />}
      {usage.data && latencies.error && <Reading of={latencies} what="the latencies" />}
      {usage.data && latencies.data && latencies.data.data.length > 0 && (
        <LatencySection latencies={latencies.data} />
      )}
    </>
  );
}

function UsageSections({ usage, measure }: { usage: UsageAnswer; measure: string }) {
  const rows = usage.data;
  const total = sumOf(rows);
  const rates = ratesOf(rows);
  return (
    <>
      <Section title="Together">
        <Numbers
          entries={[
            ['Charged', formatUsdc(total.credits)],
            ['Credits', formatCount(total.credits)],
            ['Jobs', formatCount(total.jobs)],
            ['Tokens in', formatCount(total.promptTokens)],
            ['Tokens out', formatCount(total.completionTokens)],
          ]}
        />
      </Section>
      {rates.length > 0 && (
        <Section
          title="By rate"
          lead="A text up to its model's threshold costs the price per request, a longer one the rate for all its tokens."
        >
          <Table
            caption="Charged jobs and their credits, by model and rate"
            rows={rates}
            rowKey={({ model }) => model}
            columns={[
              { title: 'Model', cell: ({ model }) => <code>{model}</code> },
              {
                title: 'Per request',
                isKey: true,
                isNumber: true,
                cell: ({ perRequest }) => charged(perRequest),
              },
              {
                title: 'Per 1,000 tokens',
                isKey: true,
                isNumber: true,
                cell: ({ per1kTokens }) => charged(per1kTokens),
              },
            ]}
          />
        </Section>
      )}
      <Section title={`By ${usage.by} (UTC) and model`}>
        {rows.length === 0 ? (
          <Empty title="Nothing was used in this time">
            <p className="soft">Choose a longer time above.</p>
          </Empty>
        ) : (
          <UsageChart usage={usage} measure={measure} />
        )}
      </Section>
    </>
  );
}

function LatencySection({ latencies }: { latencies: LatencyAnswer }) {
  return (
    <Section title="Latency" lead="Percentiles over your own jobs of at most 30 days.">
      <Table
        caption="Milliseconds by model"
        rows={latencies.data}
        rowKey={(row) => row.model}
        columns={[
          { title: 'Model', cell: (row) => <code>{row.model}</code> },
          { title: 'Jobs', isNumber: true, isKey: true, cell: ({ jobs }) => formatCount(jobs) },
          { title: 'Lock p50 / p95', isNumber: true, cell: ({ lock_ms }) => pair(lock_ms) },
          {
            title: 'First token p50 / p95',
            isKey: true,
            isNumber: true,
            cell: ({ first_token_ms }) => pair(first_token_ms),
          },
          { title: 'Answer p50 / p95', isNumber: true, cell: ({ worker_ms }) => pair(worker_ms) },
        ]}
      />
    </Section>
  );
}

const charged = ({ jobs, credits }: { readonly jobs: number; readonly credits: number }) => (
  <Over below={countOf(credits, 'credit')}>{countOf(jobs, 'job')}</Over>
);

function pair(percentiles: { readonly p50: number; readonly p95: number } | null): string {
  if (percentiles === null) return '–';
  return `${formatMs(percentiles.p50)} / ${formatMs(percentiles.p95)}`;
}
