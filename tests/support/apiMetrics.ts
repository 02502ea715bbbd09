import { until } from '../indexer/until.ts';
import type { RunningService } from './runningService.ts';

/** The samples of a page in Prometheus's text form, by name and labels. */
export function samplesOf(page: string): Map<string, number> {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const split = line.lastIndexOf(' ');
      return [line.slice(0, split), Number(line.slice(split + 1))];
    }),
  );
}

/** Waits until the API, which has METRICS_PORT among its settings, shows a value of which it holds. */
export async function untilSampled(
  { metricsUrl }: Pick<RunningService, 'metricsUrl'>,
  sample: string,
  holds: (value: number) => boolean,
): Promise<void> {
  await until(async () => {
    const response = await fetch(String(metricsUrl));
    const value = samplesOf(await response.text()).get(sample);
    return value !== undefined && holds(value);
  });
}
