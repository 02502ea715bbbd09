import type { QueryClient } from '@tanstack/react-query';
import { keyOf } from '../data/queries.ts';
import { type AnswerOf, call, type PathOf } from '../data/request.ts';
import { APP_PAGES, type AppPage, type AppPath, earlyReadsOf } from '../routes.ts';

/** Waits for an answer that is on its way, or asks for it once. Fails silently: the page says so. */
export function readOnce(client: QueryClient, path: PathOf<'GET'>): Promise<void> {
  const queryFn = () => call('GET', path);
  return client.prefetchQuery({ queryKey: keyOf(path), queryFn, retry: false });
}

/**
 * Reads what a page shows first, before it is drawn: the document has asked for the same, so that the
 * answers are there or on their way. What fails is read again, and told, by the page.
 *
 * @param path undefined where there is no such page
 * @param isFiltered whether the address has filters, so that the page reads something else
 */
export async function readEarly(
  client: QueryClient,
  { path, isFiltered }: { readonly path: AppPath | undefined; readonly isFiltered: boolean },
): Promise<void> {
  const page: AppPage | undefined = path && APP_PAGES[path];
  const readAll = (reads: readonly string[]) =>
    Promise.all((reads as readonly PathOf<'GET'>[]).map((one) => readOnce(client, one)));
  await readAll(earlyReadsOf(page, { hasSession: false, isFiltered }).reads);
  const answer = client.getQueryData<AnswerOf<'GET', '/session'>>(keyOf('/session'));
  // What has been read already is new enough, and not read again.
  if (!answer?.session) return;
  const { duty } = page ?? {};
  const ofDuty = duty && answer.session.roles[duty.role] ? [duty.read] : [];
  await readAll([...earlyReadsOf(page, { hasSession: true, isFiltered }).reads, ...ofDuty]);
}
