import { type InfiniteData, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type {
  ConsoleAccount,
  ConsoleJob,
  ConsoleJobList,
  StreamChanges,
} from '../../api/contracts/index.ts';
import { keyOf, useRead } from '../data/queries.ts';
import { openStream } from '../data/stream.ts';
import { useNews } from '../data/tabs.ts';

/** Paths whose answers the stream updates. */
const CHANGING = ['/jobs', '/jobs/:job_id', '/account'] as const;
/** Paths whose answers a change makes stale, since it does not contain them. */
const SUMMED = ['/account/history', '/job-counts', '/usage', '/usage/latency'] as const;

const NO_ACCOUNT_POLL_MS = 3_000;

/**
 * Updates what is shown of a wallet by its stream, and by what other tabs have changed. A wallet
 * without an account has no stream: the account is polled until it is open.
 */
export function useLiveWallet(wallet: string | undefined): void {
  const client = useQueryClient();
  const known = client.getQueryData<ConsoleAccount>(keyOf('/account'));
  const hasAccount = known?.is_open === true && known.wallet === wallet;
  useRead('/account', {
    enabled: wallet !== undefined,
    ...(!hasAccount && { everyMs: NO_ACCOUNT_POLL_MS }),
  });
  useEffect(() => {
    if (wallet === undefined || !hasAccount) return;
    const readAgain = () => {
      for (const path of [...CHANGING, ...SUMMED]) {
        void client.invalidateQueries({ queryKey: [path] });
      }
    };
    return openStream(wallet, {
      onChanges: (changes) => apply(changes, client),
      onReset: readAgain,
      onEnd: () => void client.invalidateQueries({ queryKey: ['/session'] }),
    });
  }, [wallet, hasAccount, client]);
  useNews((news) => {
    if (news.kind !== 'changed') return;
    for (const path of news.paths) void client.invalidateQueries({ queryKey: [path] });
  });
}

function apply(changes: StreamChanges, client: QueryClient): void {
  const { jobs, available_credits, locked_credits } = changes;
  client.setQueryData<ConsoleAccount>(
    keyOf('/account'),
    (account) => account && { ...account, available_credits, locked_credits },
  );
  void client.invalidateQueries({ queryKey: ['/account'], refetchType: 'active' });
  for (const path of SUMMED) void client.invalidateQueries({ queryKey: [path] });
  for (const job of jobs) {
    client.setQueryData(keyOf('/jobs/:job_id', { params: { job_id: job.id } }), job);
  }
  for (const [key] of client.getQueriesData({ queryKey: ['/jobs'] })) {
    const filters = key[1] as JobFilters;
    client.setQueryData<InfiniteData<ConsoleJobList>>(
      key,
      (list) => list && mergeJobs(list, jobs, filters),
    );
  }
}

type JobFilter = 'id' | 'status' | 'model' | 'since' | 'until';
export type JobFilters = { readonly [Name in JobFilter]?: string | undefined };

function fits(job: ConsoleJob, { id, status, model, since, until }: JobFilters): boolean {
  return (
    (id === undefined || job.id === id) &&
    (status === undefined || job.status === status) &&
    (model === undefined || job.model === model) &&
    (since === undefined || job.created_at >= since) &&
    (until === undefined || job.created_at < until)
  );
}

/** Puts changed jobs in their places, and new ones on top. */
function mergeJobs(
  list: InfiniteData<ConsoleJobList>,
  changed: readonly ConsoleJob[],
  filters: JobFilters,
): InfiniteData<ConsoleJobList> {
  const byId = new Map(changed.map((job) => [job.id, job]));
  const known = new Set(list.pages.flatMap(({ data }) => data.map(({ id }) => id)));
  const newest = list.pages[0]?.data[0]?.id ?? '';
  // Ids carry their time, so that the greater one is the newer one.
  const added = changed
    .filter((job) => !known.has(job.id) && job.id > newest && fits(job, filters))
    .toSorted((one, other) => (one.id < other.id ? 1 : -1));
  const pages = list.pages.map((page, index) => {
    const kept = page.data.flatMap((job) => {
      const now = byId.get(job.id) ?? job;
      return fits(now, filters) ? [now] : [];
    });
    return { ...page, data: index === 0 ? [...added, ...kept] : kept };
  });
  return { ...list, pages };
}
