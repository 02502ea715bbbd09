import type { ConsoleModel } from '../../../api/contracts/index.ts';
import { describePriceSteps } from '../../../common/priceSteps.ts';
import { POLL_MS, useRead } from '../../data/queries.ts';
import { CopyIconButton } from '../../design/copy.tsx';
import { formatCount, formatMs } from '../../design/formats.ts';
import { Empty, Reading } from '../../design/notice.tsx';
import { PageHeader } from '../../design/page.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Ahead } from '../../design/time.tsx';
import { formatUsdc, Over, State } from '../../design/values.tsx';
import { APP_PAGES } from '../../routes.ts';
import { ModelLink } from './modelLink.tsx';
import styles from './modelsPage.module.css';

const columns: readonly Column<ConsoleModel>[] = [
  {
    title: 'Model',
    cell: ({ id, owned_by, svc }) => (
      <>
        <span className={styles.id}>
          <ModelLink id={id} />
          <CopyIconButton text={id} what="model id" />
        </span>
        <span className="soft">
          {svc.parameters} by {owned_by}, {svc.tier}
          {svc.retires_at && (
            <>
              , retires <Ahead time={svc.retires_at} />
            </>
          )}
        </span>
      </>
    ),
  },
  {
    title: 'Workers',
    isKey: true,
    cell: ({ svc }) =>
      svc.active_workers > 0 ? (
        <State tone="ok" word={`${svc.active_workers} answering`} />
      ) : (
        <State tone="idle" word="none at present" />
      ),
  },
  {
    title: 'Per request',
    isKey: true,
    isNumber: true,
    cell: ({ svc: { credits_per_request: credits } }) => (
      <Over below={formatUsdc(credits)}>{formatCount(credits)}</Over>
    ),
  },
  {
    title: 'Per 1,000 tokens',
    isNumber: true,
    cell: ({ svc }) => (
      <Over below={`above ${formatCount(svc.long_completion_threshold)}`}>
        {formatCount(svc.credits_per_1k_tokens)}
      </Over>
    ),
  },
  { title: 'Context', isNumber: true, cell: ({ svc }) => formatCount(svc.context_window) },
  {
    title: 'First token',
    isNumber: true,
    cell: ({ svc, first_token_p95_ms }) => (
      <Over below={formatMs(first_token_p95_ms)}>{formatMs(svc.median_latency_ms || null)}</Over>
    ),
  },
  { title: 'Jobs, 24 h', isNumber: true, cell: ({ jobs_24h }) => formatCount(jobs_24h) },
];

export default function ModelsPage() {
  const models = useRead('/models', { everyMs: POLL_MS.sums });
  return (
    <>
      <PageHeader {...APP_PAGES['/console/models'].head} />
      <Reading of={models} what="the catalog" />
      {models.data &&
        (models.data.data.length === 0 ? (
          <Empty title="The catalog is empty">
            <p>The authority of the program adds models, on the page Operator.</p>
          </Empty>
        ) : (
          <>
            {describePriceSteps(models.data.data.map(({ svc }) => svc)).map((step) => (
              <p key={step}>{step}</p>
            ))}
            <Table
              caption="Models with prices, workers and latencies"
              columns={columns}
              rows={models.data.data}
              rowKey={({ id }) => id}
            />
          </>
        ))}
    </>
  );
}
