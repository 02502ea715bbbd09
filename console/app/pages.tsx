import type { ComponentType } from 'react';
import { Loading } from '../design/notice.tsx';
import { type OnUse, onUse } from '../design/onUse.tsx';
import { PageHeader } from '../design/page.tsx';
import { APP_PAGES, APP_PATHS, type AppPage, type AppPath, type PageHead } from '../routes.ts';

interface Page {
  /** Of its paths, in wouter's words. */
  readonly pattern: string;
  readonly access: 'public' | 'wallet';
  readonly head: PageHead | undefined;
  readonly Content: OnUse<object>;
}

const MODULES = import.meta.glob<{ default: ComponentType }>('../pages/*/*Page.tsx');

/** Each page by its path; its code is loaded when it is opened. */
export const PAGES = Object.fromEntries(
  Object.entries<AppPage>(APP_PAGES).map(
    ([path, { module, access, head, pattern = path }]): [string, Page] => {
      const load = MODULES[`../${module}`];
      if (load === undefined) throw new Error(`There is no page ${module}`);
      const loading = (
        <>
          {head && <PageHeader {...head} />}
          <Loading what="the page" />
        </>
      );
      return [path, { pattern, access, head, Content: onUse(load, loading) }];
    },
  ),
) as Readonly<Record<AppPath, Page>>;

/** The page at this address, if there is one. The root leads to the first. */
export function pathOf(pathname: string): AppPath | undefined {
  if (pathname === '/') return '/console';
  return APP_PATHS.find((one) =>
    new RegExp(`^${one.replaceAll(/:\w+/g, '[^/]+')}/?$`).test(pathname),
  );
}
