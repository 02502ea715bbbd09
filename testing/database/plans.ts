import type { Database } from '../../common/postgres.ts';

interface PlanNode {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** What Postgres read for statements, and the most that a step of their plans read in vain. */
export interface Readings {
  blocks: number;
  rowsRemovedMax: number;
}

/**
 * Runs a statement by `explain`, and adds up what Postgres read for it.
 *
 * @param executed the statement, without the `explain`
 */
export async function explain(
  database: Database,
  readings: Readings,
  executed: string,
  values: unknown[] = [],
): Promise<void> {
  const { rows } = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (analyze, buffers, format json) ${executed}`,
    values,
  );
  for (const {
    'QUERY PLAN': [{ Plan: plan }],
  } of rows) {
    readings.blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    const removed = withChildren(plan).map((node) => node['Rows Removed by Filter'] ?? 0);
    readings.rowsRemovedMax = Math.max(readings.rowsRemovedMax, ...removed);
  }
}

const withChildren = (node: PlanNode): PlanNode[] => [
  node,
  ...(node.Plans ?? []).flatMap(withChildren),
];
