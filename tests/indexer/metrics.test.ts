import { describe, expect, it } from '@jest/globals';
import { createProgress } from '../../indexer/mirror/progress.ts';
import { createMetrics } from '../../indexer/telemetry/metrics.ts';

const FOUND =
  /^(svc_indexer_gaps|svc_indexer_reconcile_differences|svc_keeper_due_tasks\{.*) (\d+)$/;

describe('the findings of a leading indexer', () => {
  const metrics = createMetrics(createProgress(() => 0));

  async function found(): Promise<number[]> {
    const lines = (await metrics.registry.metrics()).split('\n');
    return lines.flatMap((line) => FOUND.exec(line)?.[2] ?? []).map(Number);
  }

  it('are exported until another indexer leads', async () => {
    metrics.became('leader');
    metrics.gaps(1);
    metrics.reconciled('breach', 2);
    metrics.due('job_refund', 3);
    expect(await found()).toEqual([1, 2, 3]);
    metrics.became('starting');
    expect(await found()).toEqual([1, 2, 3]);
    metrics.became('standby');
    expect(await found()).toEqual([0, 0]);
  });
});
