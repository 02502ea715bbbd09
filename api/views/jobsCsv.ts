import { once } from 'node:events';
import type { Response } from 'express';
import { isoTime, isoTimeOrNull } from '../../common/format.ts';
import type { JobRow } from '../sql/jobs.ts';
import { chargedRate } from './job.ts';

type Cell = string | number | bigint | null;

const COLUMNS: readonly [name: string, cell: (job: JobRow) => Cell][] = [
  ['id', (job) => job.job_id],
  ['status', (job) => job.status],
  ['model', (job) => job.model_id],
  ['tier', (job) => job.tier],
  ['created_at', (job) => isoTime(job.locked_at)],
  ['completed_at', (job) => isoTimeOrNull(job.ended_at)],
  ['credits_locked', (job) => job.locked_credits],
  ['credits_charged', (job) => job.charged_credits],
  ['rate', chargedRate],
  ['prompt_tokens', (job) => job.prompt_tokens],
  ['completion_tokens', (job) => job.completion_tokens],
  ['worker', (job) => job.worker],
  ['failure_reason', (job) => job.failure_reason],
  ['escrow_tx', (job) => job.escrow_tx],
  ['settlement_tx', (job) => job.settlement_tx],
  ['refund_tx', (job) => job.refund_tx],
];

/** Writes jobs as CSV, no faster than the client reads. */
export async function writeJobsCsv(
  response: Response,
  pages: AsyncIterable<readonly JobRow[]>,
): Promise<void> {
  response.set({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="jobs.csv"',
  });
  const line = (cells: readonly string[]) => `${cells.join(',')}\r\n`;
  response.write(line(COLUMNS.map(([name]) => name)));
  for await (const jobs of pages) {
    const text = jobs.map((job) => line(COLUMNS.map(([, cell]) => csvCell(cell(job))))).join('');
    if (response.destroyed) return;
    if (!response.write(text))
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end();
}

/** Characters that begin a formula in spreadsheets. */
const FORMULA = /^[=+\-@\t\r]/;

/** One cell, quoted where needed. A formula becomes text. */
export function csvCell(value: Cell): string {
  if (value === null) return '';
  const text = String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
