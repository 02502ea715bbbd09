import { useState } from 'react';
import { useLocation } from 'wouter';
import type { UsageAnswer } from '../../../api/contracts/index.ts';
import { Button } from '../../design/button.tsx';
import { formatCount, formatMinute } from '../../design/formats.ts';
import { Row } from '../../design/page.tsx';
import { Table } from '../../design/table.tsx';
import { Drawing } from './drawing.tsx';
import styles from './usageChart.module.css';
import { barsOf, modelsOf, STEPS_MS } from './usageValues.ts';

/** Models beyond these share the last pattern. */
const PATTERNS = 5;

/** Bars by model, as a chart or as a table; each bar leads to its jobs. */
export function UsageChart({ usage, measure }: { usage: UsageAnswer; measure: string }) {
  const [isTable, setTable] = useState(false);
  const [, navigate] = useLocation();
  const bars = barsOf(usage, measure);
  const models = modelsOf(bars);
  const nameOf = (start: string) =>
    usage.by === 'hour' ? `${start.slice(11, 13)}:00` : start.slice(5, 10);
  const open = (start: string) => navigate(jobsOf(start, usage.by));
  return (
    <div className={styles.chart}>
      <Row>
        <ul className={styles.legend}>
          {namesOf(models).map((name, index) => (
            <li key={name}>
              <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
                <rect width="10" height="10" className={classOf(index)} />
              </svg>
              {name}
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
              title: `${usage.by} (UTC)`,
              cell: ({ start }) => (
                <a href={jobsOf(start, usage.by)}>
                  {usage.by === 'hour' ? formatMinute(start) : start.slice(0, 10)}
                </a>
              ),
            },
            ...models.map((model) => ({
              title: model,
              isNumber: true,
              cell: (bar: (typeof bars)[number]) => formatCount(bar.values.get(model) ?? 0),
            })),
            {
              title: 'Together',
              isNumber: true,
              isKey: true,
              cell: ({ total }) => formatCount(total),
            },
          ]}
        />
      ) : (
        <Drawing
          bars={bars}
          models={models}
          measure={measure}
          nameOf={nameOf}
          classOf={classOf}
          onOpen={open}
        />
      )}
    </div>
  );
}

/** The jobs of the hour or day that begins then. */
function jobsOf(start: string, by: keyof typeof STEPS_MS): string {
  const end = new Date(Date.parse(start) + STEPS_MS[by]).toISOString();
  const [since, until] = [start, end].map((time) => time.slice(0, by === 'hour' ? 16 : 10));
  return `/console/jobs?since=${since}&until=${until}`;
}

const classOf = (index: number): string => styles[`model${Math.min(index, PATTERNS - 1)}`] ?? '';

/** What the patterns stand for. */
function namesOf(models: readonly string[]): readonly string[] {
  if (models.length <= PATTERNS) return models;
  const named = models.slice(0, PATTERNS - 1);
  return [...named, `${models.length - named.length} other models`];
}
