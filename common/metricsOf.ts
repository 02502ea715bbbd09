import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Makes metrics of one registry, each with its name, its help, and the names of its labels. */
export function metricsOf(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string>(
      name: string,
      help: string,
      labelNames: readonly Label[] = [],
    ) => new Counter({ name, help, labelNames, registers }),
    gauge: <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: <Label extends string>(
      name: string,
      help: string,
      sizes: { labelNames: readonly Label[]; buckets: number[] },
    ) => new Histogram({ name, help, ...sizes, registers }),
    /** @param read the gauge's value at each scrape; undefined leaves the last one */
    observe: (name: string, help: string, read: () => Reading | Promise<Reading>) =>
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          const value = await read();
          if (value !== undefined) this.set(value);
        },
      }),
  };
}

/** The makers of one registry's metrics. */
export type Metrics = ReturnType<typeof metricsOf>;

type Reading = number | undefined;
