import type { ReactNode } from 'react';
import { useParams } from 'wouter';
import type { ConsoleWorker, ModelDetail } from '../../../api/contracts/index.ts';
import { describePriceSteps } from '../../../common/priceSteps.ts';
import { POLL_MS, useRead } from '../../data/queries.ts';
import { DayBars, DayStrip } from '../../design/dayStrip.tsx';
import { formatCount, formatMs } from '../../design/formats.ts';
import { Reading } from '../../design/notice.tsx';
import { Facts, Numbers, PageHeader, Section } from '../../design/page.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Time, useNow } from '../../design/time.tsx';
import { Credits, State } from '../../design/values.tsx';
import { lastDays } from './lastDays.ts';
import { UPTIME_COLUMN, WORKER_COLUMNS } from './workerValues.tsx';

const DAY_MS = 86_400_000;
const DAYS = 90;

export default function ModelPage() {
  const { model = '' } = useParams();
  const read = useRead('/models/:model_id', { params: { model_id: model }, everyMs: POLL_MS.sums });
  const { data } = read;
  return (
    <>
      <PageHeader title={model}>{data && <Hosted model={data} />}</PageHeader>
      <Reading of={read} what="the model" />
      {data && <Detail model={data} />}
    </>
  );
}

function Hosted({ model: { svc } }: { model: ModelDetail }) {
  return svc.active_workers > 0 ? (
    <State tone="ok" word={`${svc.active_workers} answering`} />
  ) : (
    <State tone="idle" word="no worker at present" />
  );
}

function Detail({ model }: { model: ModelDetail }) {
  const { svc } = model;
  return (
    <>
      <Section
        title="Terms"
        lead="On the ledger. A job is charged by them, and never more than it locked."
      >
        <Numbers
          entries={[
            [
              `Up to ${formatCount(svc.long_completion_threshold)} tokens`,
              <Credits key="request" credits={svc.credits_per_request} />,
            ],
            [
              'A longer text, per 1,000 tokens',
              <Credits key="thousand" credits={svc.credits_per_1k_tokens} />,
            ],
          ]}
        />
        {describePriceSteps([svc]).map((step) => (
          <p key={step}>{step}</p>
        ))}
        <Facts
          entries={[
            ['Made by', model.owned_by],
            ['Parameters', svc.parameters],
            ['Tier', svc.tier],
            ['Context', `${formatCount(svc.context_window)} tokens`],
            ['Retires', svc.retires_at && <Time key="retires" time={svc.retires_at} />],
          ]}
        />
      </Section>
      <Measured model={model} />
      <Section title="Workers" lead="Those that host the model, with its first tokens of 24 hours.">
        <Table
          caption="Workers that host the model"
          columns={COLUMNS}
          rows={model.workers}
          rowKey={({ address }) => address}
          empty={<p className="soft">None at present.</p>}
        />
      </Section>
      <Card svc={svc} />
    </>
  );
}

function Measured({ model }: { model: ModelDetail }) {
  const days = lastDays(model.days, DAYS, useNow(DAY_MS));
  return (
    <Section title={`The last ${DAYS} days`} lead="By day of UTC, as this service measured them.">
      <Numbers
        entries={[
          ['First token, median', formatMs(model.svc.median_latency_ms || null)],
          ['First token p95, 24 h', formatMs(model.first_token_p95_ms)],
          ['Jobs, 24 h', formatCount(model.jobs_24h)],
        ]}
      />
      <h3>First token, median</h3>
      <DayBars
        label={`Median first token by day, ${DAYS} days`}
        from={`${DAYS} days ago`}
        bars={days.map((one) =>
          one?.first_token_p50_ms == null
            ? undefined
            : {
                name: one.day,
                value: one.first_token_p50_ms,
                words: `median ${formatMs(one.first_token_p50_ms)}, p95 ${formatMs(one.first_token_p95_ms)}`,
              },
        )}
      />
      <h3>Probes answered</h3>
      <p className="soft">Of the workers that host the model now.</p>
      <DayStrip
        label={`Days in which its workers answered, ${DAYS} days`}
        from={`${DAYS} days ago`}
        spans={days.map((one) => one && one.probes > 0 && { name: one.day, ...one })}
      />
    </Section>
  );
}

const COLUMNS: readonly Column<ConsoleWorker>[] = [
  ...WORKER_COLUMNS,
  UPTIME_COLUMN,
  {
    title: 'First token p50 / p95',
    isNumber: true,
    cell: ({ first_token_p50_ms, first_token_p95_ms }) =>
      `${formatMs(first_token_p50_ms)} / ${formatMs(first_token_p95_ms)}`,
  },
];

function Card({ svc: { card, card_hash } }: Pick<ModelDetail, 'svc'>) {
  return (
    <Section
      title="Card"
      lead="What a worker promises to run. Whether it ran that, no check shows, and no stake is slashed for it."
    >
      {card_hash === null ? (
        <p className="soft">None is pinned on the ledger.</p>
      ) : (
        <Facts entries={[['Pinned as', <code key="hash">{card_hash}</code>], ...contentOf(card)]} />
      )}
    </Section>
  );
}

function contentOf(card: ModelDetail['svc']['card']): (readonly [string, ReactNode])[] {
  if (card === null) return [['Content', 'This service does not have it.']];
  const text = (value: string | null) => value ?? 'none beside the weights';
  return [
    ['Source', card.source],
    ['Revision', <code key="revision">{card.revision}</code>],
    ['Weights', <code key="weights">{card.weights_digest ?? 'none'}</code>],
    ['Quantization', card.quantization],
    ['Tokenizer', <code key="tokenizer">{text(card.tokenizer_digest)}</code>],
    ['Chat template', <code key="chat">{text(card.chat_template_digest)}</code>],
    ['Default sampling', <code key="s">{JSON.stringify(card.default_sampling)}</code>],
    ['Licence', card.licence],
  ];
}
