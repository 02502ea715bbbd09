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

type Sampled = Pick<RunningService, 'metricsUrl'>;

/** What the API shows, which has METRICS_PORT among its settings; undefined where it shows nothing. */
export async function sample({ metricsUrl }: Sampled, name: string): Promise<number | undefined> {
  const response = await fetch(String(metricsUrl));
  return samplesOf(await response.text()).get(name);
}

/** Waits until the API shows a value of which it holds. */
export async function untilSampled(
  service: Sampled,
  name: string,
  holds: (value: number) => boolean,
): Promise<void> {
  await until(async () => {
    const value = await sample(service, name);
    return value !== undefined && holds(value);
  });
}
