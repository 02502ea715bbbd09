-- What the APIs found of the parts that they need, in each minute; kept for 90 days.
create table service.readiness_minutes (
  minute timestamptz constraint readiness_minutes_pkey primary key,
  -- Those that were away for every API that looked.
  away text[] not null
);
create index readiness_minutes_away_idx on service.readiness_minutes (minute) where away <> '{}';
