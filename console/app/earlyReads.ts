import type { QueryClient } from '@tanstack/react-query';
import type { ReadPath, SessionObject } from '../../api/console/contracts/index.ts';
import { mayRead } from '../data/access.ts';
import { keyOf } from '../data/queries.ts';
import { type AnswerOf, call } from '../data/request.ts';
import { APP_PAGES, type AppPage, type AppPath, earlyReadsOf } from '../routes.ts';

/** Waits for an answer that is on its way, or asks for it once. Fails silently: the page shows the error. */
export function readOnce(client: QueryClient, path: ReadPath): Promise<void> {
  const queryFn = () => call('GET', path);
  return client.prefetchQuery({ queryKey: keyOf(path), queryFn, retry: false });
}

/**
 * Reads what a page shows first, before it is drawn. The document has asked for the same, so that the
 * answers are there or on their way. The page reads again what fails, and shows the error.
 *
 * @param path undefined where there is no such page
 * @param isFiltered whether the address has filters, so that the page reads something else
 */
export async function readEarly(
  client: QueryClient,
  { path, isFiltered }: { readonly path: AppPath | undefined; readonly isFiltered: boolean },
): Promise<void> {
  const page: AppPage | undefined = path && APP_PAGES[path];
  const readAll = (session: SessionObject | null) => {
    const { reads } = earlyReadsOf(page, {
      mayRead: (one) => mayRead(one, session),
      hasSession: session !== null,
      isFiltered,
    });
    return Promise.all(reads.map((one) => readOnce(client, one)));
  };
  await readAll(null);
  const session = sessionOf(client);
  // What has been read already is new enough, and not read again.
  if (session) await readAll(session);
}

const sessionOf = (client: QueryClient) =>
  client.getQueryData<AnswerOf<'GET', '/session'>>(keyOf('/session'))?.session;

/** Whether a session is known by now. */
export const hasSession = (client: QueryClient): boolean => sessionOf(client) != null;
