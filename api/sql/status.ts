import type { Database } from '../../common/postgres.ts';

/**
 * Records which parts are away in the present minute. What another API found in it counts, too: a part
 * that is there for one of them is not away.
 */
export async function insertMinute(database: Database, away: readonly string[]): Promise<void> {
  await database.query(
    `insert into service.readiness_minutes as kept (minute, away)
     values (date_trunc('minute', now()), $1)
     on conflict (minute) do update set away = array(
       select unnest(kept.away) intersect select unnest(excluded.away) order by 1
     )`,
    [[...away].sort()],
  );
}

const KEPT = `minute > now() - interval '90 days'`;

/** The recorded minutes of a day of UTC, and by part those in which it was away. */
interface RecordedDayRow {
  day: Date;
  minutes: number;
  away: Record<string, number>;
}

/** Oldest first. */
export async function selectRecordedDays(database: Database): Promise<RecordedDayRow[]> {
  const { rows } = await database.query<RecordedDayRow>(
    `with lacking as (
       select date_trunc('day', minute, 'UTC') as day, part, count(*) as minutes
       from service.readiness_minutes, unnest(away) as part
       where ${KEPT} and away <> '{}' group by 1, 2
     ), counted as (
       select day, jsonb_object_agg(part, minutes) as away from lacking group by day
     ), recorded as (
       select date_trunc('day', minute, 'UTC') as day, count(*)::integer as minutes
       from service.readiness_minutes where ${KEPT} group by 1
     )
     select day, minutes, coalesce(away, '{}') as away
     from recorded left join counted using (day) order by day`,
  );
  return rows;
}

/** Minutes in a row in which a part was away. */
interface IncidentRow {
  /** `api` where nothing was recorded: every API, or the database, was away. */
  part: string;
  began_at: Date;
  /** Null while it lasts. */
  ended_at: Date | null;
}

/** Newest first. One minute that is missing is no incident, since APIs do not record by the second. */
export async function selectIncidents(database: Database, limit: number): Promise<IncidentRow[]> {
  const { rows } = await database.query<IncidentRow>(
    `with lacking as (
       select part, minute,
         minute - interval '1 minute' * row_number() over (partition by part order by minute) as run
       from service.readiness_minutes, unnest(away) as part where ${KEPT} and away <> '{}'
     ), recorded as (
       select minute, lead(minute) over (order by minute) as next
       from service.readiness_minutes where ${KEPT}
     )
     select part, min(minute) as began_at,
       nullif(
         max(minute), (select max(minute) from service.readiness_minutes)
       ) + interval '1 minute' as ended_at
     from lacking group by part, run
     union all
     select 'api', minute + interval '1 minute', next from recorded
     where next - minute > interval '2 minutes'
     order by began_at desc, part limit $1`,
    [limit],
  );
  return rows;
}
