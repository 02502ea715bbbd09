-- A page of a wallet's jobs costs what it shows, however few of the wallet's jobs match its filters.
-- No two indexes begin alike, and the columns of each run the same way. So every kind of page is a
-- range of one of them, and no other can stand in for it.
drop index jobs_wallet_locked_at_idx;
alter table jobs
  drop constraint jobs_wallet_job_id_key,
  add constraint jobs_job_id_wallet_key unique (job_id, wallet);
create index jobs_wallet_idx on jobs (wallet, locked_at, job_id);
create index jobs_status_wallet_idx on jobs (status, wallet, locked_at, job_id);
create index jobs_model_id_wallet_idx on jobs (model_id, wallet, locked_at, job_id);
create index jobs_status_model_id_wallet_idx
  on jobs ((status || ' ' || model_id), wallet, locked_at, job_id);
