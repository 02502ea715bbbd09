import { AxisBottom, AxisLeft } from '@visx/axis';
import { scaleBand, scaleLinear } from '@visx/scale';
import { Bar } from '@visx/shape';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { UsageAnswer } from '../../../api/console/contracts/index.ts';
import { Button } from '../../design/button.tsx';
import { formatCount } from '../../design/credits.tsx';
import { Row } from '../../design/page.tsx';
import { Table } from '../../design/table.tsx';
import styles from './usageChart.module.css';
import { barsOf, modelsOf } from './usageValues.ts';

const WIDTH = 960;
const HEIGHT = 280;
const LEFT = 64;
const BOTTOM = 28;
const TOP = 8;
const TICKS = 4;
const NAMES_MAX = 8;
/** Models beyond these share the last pattern. */
const PATTERNS = 5;

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** Bars by model, as a chart or as a table; each bar leads to its jobs. */
export function UsageChart({
  usage,
  measure,
}: {
  readonly usage: UsageAnswer;
  readonly measure: string;
}) {
  const [isTable, setTable] = useState(false);
  const [, navigate] = useLocation();
  const bars = barsOf(usage, measure);
  const models = modelsOf(bars);
  const nameOf = (start: string) =>
    usage.by === 'hour' ? `${start.slice(11, 13)}:00` : start.slice(5, 10);
  const open = (start: string) => navigate(jobsOf(start));
  return (
    <div className={styles.chart}>
      <Row>
        <ul className={styles.legend}>
          {models.map((model, index) => (
            <li key={model}>
              <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
                <rect width="10" height="10" className={classOf(index)} />
              </svg>
              {model}
            </li>
          ))}
        </ul>
        <Button size="small" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {isTable ? 'As a chart' : 'As a table'}
        </Button>
      </Row>
      {isTable ? (
        <Table
          caption={`${measure} by ${usage.by} and model`}
          rows={bars.filter(({ total }) => total > 0)}
          rowKey={({ start }) => start}
          columns={[
            {
              title: usage.by,
              cell: ({ start }) => (
                <a href={jobsOf(start)}>{start.slice(0, usage.by === 'hour' ? 16 : 10)}</a>
              ),
            },
            ...models.map((model) => ({
              title: model,
              isNumber: true,
              cell: (bar: (typeof bars)[number]) => formatCount(bar.values.get(model) ?? 0),
            })),
            { title: 'Together', isNumber: true, cell: ({ total }) => formatCount(total) },
          ]}
        />
      ) : (
        <Drawing bars={bars} models={models} measure={measure} nameOf={nameOf} onOpen={open} />
      )}
    </div>
  );
}

/** The jobs of the day that a bar belongs to. */
function jobsOf(start: string): string {
  const day = start.slice(0, 10);
  const next = new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
  return `/console/jobs?since=${day}&until=${next}`;
}

const classOf = (index: number): string => styles[`model${Math.min(index, PATTERNS - 1)}`] ?? '';

function Drawing({
  bars,
  models,
  measure,
  nameOf,
  onOpen,
}: {
  readonly bars: ReturnType<typeof barsOf>;
  readonly models: readonly string[];
  readonly measure: string;
  readonly nameOf: (start: string) => string;
  readonly onOpen: (start: string) => void;
}) {
  const x = scaleBand({
    domain: bars.map(({ start }) => start),
    range: [LEFT, WIDTH],
    padding: 0.25,
  });
  const y = scaleLinear({
    domain: [0, Math.max(1, ...bars.map(({ total }) => total))],
    range: [HEIGHT - BOTTOM, TOP],
    nice: TICKS,
  });
  const every = Math.ceil(bars.length / NAMES_MAX);
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className={styles.drawing}>
      <title>{`${measure} by time and model; the table has the numbers`}</title>
      <AxisLeft
        scale={y}
        left={LEFT}
        numTicks={TICKS}
        hideAxisLine
        tickFormat={(value) => compact.format(Number(value))}
        tickLength={0}
        axisClassName={styles.axis ?? ''}
        tickLabelProps={{ className: styles.label ?? '', textAnchor: 'end', dx: -8, dy: 4 }}
      />
      {y.ticks(TICKS).map((tick) => (
        <line key={tick} x1={LEFT} x2={WIDTH} y1={y(tick)} y2={y(tick)} className={styles.grid} />
      ))}
      {bars
        .filter(({ total }) => total > 0)
        .map((bar) => (
          // biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons
          <g
            key={bar.start}
            role="button"
            tabIndex={0}
            className={styles.bar}
            aria-label={`${nameOf(bar.start)}: ${formatCount(bar.total)} ${measure}. Open its jobs`}
            onClick={() => onOpen(bar.start)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' || event.key === ' ') onOpen(bar.start);
            }}
          >
            <title>{`${nameOf(bar.start)}: ${formatCount(bar.total)} ${measure}`}</title>
            <Bar
              x={x(bar.start) ?? 0}
              y={TOP}
              width={x.bandwidth()}
              height={HEIGHT - BOTTOM - TOP}
              className={styles.reach ?? ''}
            />
            {stackOf(bar.values, models).map(({ model, from, to, index }) => (
              <Bar
                key={model}
                x={x(bar.start) ?? 0}
                width={x.bandwidth()}
                y={y(to)}
                height={Math.max(0, y(from) - y(to))}
                className={classOf(index)}
              />
            ))}
          </g>
        ))}
      <AxisBottom
        scale={x}
        top={HEIGHT - BOTTOM}
        tickValues={bars.filter((_, index) => index % every === 0).map(({ start }) => start)}
        tickFormat={(start) => nameOf(String(start))}
        tickLength={4}
        axisClassName={styles.axis ?? ''}
        tickLabelProps={{ className: styles.label ?? '', textAnchor: 'middle' }}
      />
    </svg>
  );
}

/** Each model's part of a bar, from the ground up. */
function stackOf(values: ReadonlyMap<string, number>, models: readonly string[]) {
  let ground = 0;
  return models.flatMap((model, index) => {
    const value = values.get(model) ?? 0;
    if (value === 0) return [];
    const from = ground;
    ground += value;
    return { model, from, to: ground, index };
  });
}
