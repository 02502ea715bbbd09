import type { Database } from '../../common/postgres.ts';

/** What was seen of a worker: a first token, an attempt that failed by its own fault, or a probe. */
export type WorkerSighting = { worker: string } & (
  | { kind: 'first_token'; modelId: string; ms: number }
  | { kind: 'failure'; modelId: string }
  | { kind: 'probe'; isAnswered: boolean }
);

/** A class of first tokens is a quarter of a doubling wide, so that its middle is within a tenth. */
const CLASSES_PER_DOUBLING = 4;
/** The last holds what took longer than a quarter of an hour. */
const CLASSES = 80;

function classOf(ms: number): number {
  const place = Math.ceil(CLASSES_PER_DOUBLING * Math.log2(Math.max(ms, 1)));
  return Math.min(place, CLASSES - 1);
}

/**
 * Milliseconds below which a share of the counted first tokens lies: the middle of their class.
 *
 * @param counts by class @returns null where nothing was counted
 */
export function percentileOf(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let seen = 0;
  const place = counts.findIndex((count) => {
    seen += count;
    return seen >= share * total;
  });
  return Math.round(2 ** (Math.max(0, place - 0.5) / CLASSES_PER_DOUBLING));
}

interface Hour {
  worker: string;
  model_id: string;
  first_tokens: number;
  failures: number;
  first_token_classes: number[];
}

/** Adds what was seen to the present hour, by worker and model. */
export async function insertSightings(
  database: Database,
  sightings: readonly WorkerSighting[],
): Promise<void> {
  const hours = new Map<string, Hour>();
  const probes = new Map<string, { worker: string; probes: number; answered: number }>();
  for (const seen of sightings) {
    if (seen.kind === 'probe') {
      const probe = probes.get(seen.worker) ?? { worker: seen.worker, probes: 0, answered: 0 };
      probe.probes += 1;
      probe.answered += seen.isAnswered ? 1 : 0;
      probes.set(seen.worker, probe);
      continue;
    }
    const key = `${seen.worker} ${seen.modelId}`;
    const hour = hours.get(key) ?? {
      worker: seen.worker,
      model_id: seen.modelId,
      first_tokens: 0,
      failures: 0,
      first_token_classes: Array<number>(CLASSES).fill(0),
    };
    if (seen.kind === 'failure') hour.failures += 1;
    else {
      hour.first_tokens += 1;
      const place = classOf(seen.ms);
      hour.first_token_classes[place] = (hour.first_token_classes[place] ?? 0) + 1;
    }
    hours.set(key, hour);
  }
  if (hours.size > 0) await addHours(database, [...hours.values()]);
  if (probes.size > 0) await addProbes(database, [...probes.values()]);
}

/** In key order, as every statement that locks several rows. */
async function addHours(database: Database, hours: readonly Hour[]): Promise<void> {
  await database.query({
    name: 'add_worker_hours',
    text: `
      insert into service.worker_hours as kept
        (worker, model_id, hour, first_tokens, failures, first_token_classes)
      select worker, model_id, date_trunc('hour', now()), first_tokens, failures,
        first_token_classes
      from jsonb_to_recordset($1) as (worker text, model_id text, first_tokens integer,
        failures integer, first_token_classes integer[])
      order by worker, model_id
      on conflict (worker, hour, model_id) do update set
        first_tokens = kept.first_tokens + excluded.first_tokens,
        failures = kept.failures + excluded.failures,
        first_token_classes = array(
          select coalesce(one, 0) + coalesce(other, 0)
          from unnest(kept.first_token_classes, excluded.first_token_classes)
            with ordinality as class (one, other, place)
          order by place
        )`,
    values: [JSON.stringify(hours)],
  });
}

async function addProbes(
  database: Database,
  probes: readonly { worker: string; probes: number; answered: number }[],
): Promise<void> {
  await database.query({
    name: 'add_worker_probes',
    text: `
      insert into service.worker_probes as kept (worker, hour, probes, answered)
      select worker, date_trunc('hour', now()), probes, answered
      from jsonb_to_recordset($1) as (worker text, probes integer, answered integer)
      order by worker
      on conflict (worker, hour) do update set
        probes = kept.probes + excluded.probes, answered = kept.answered + excluded.answered`,
    values: [JSON.stringify(probes)],
  });
}
