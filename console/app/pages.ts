import { type ComponentType, lazy } from 'react';
import { APP_PAGES, APP_PATHS, type AppPage, type AppPath } from '../routes.ts';

interface Page {
  /** Of its paths, in wouter's words. */
  readonly pattern: string;
  /** The same at each call. */
  readonly component: () => ComponentType;
  /** Loads its code; once, however often it is called. */
  readonly load: () => Promise<unknown>;
  readonly access: 'public' | 'wallet';
}

const MODULES = import.meta.glob<{ default: ComponentType }>('../pages/*/*Page.tsx');

/** Each page by its path; its code is loaded when it is opened. */
export const PAGES = Object.fromEntries(
  Object.entries<AppPage>(APP_PAGES).map(
    ([path, { module, access, pattern = path }]): [string, Page] => {
      const load = MODULES[`../${module}`];
      if (load === undefined) throw new Error(`There is no page ${module}`);
      return [path, { ...loadable(load), access, pattern }];
    },
  ),
) as Readonly<Record<AppPath, Page>>;

/**
 * A page that was loaded before it is first drawn is drawn at once. React would show that it loads,
 * and leave that there for 300 ms.
 */
function loadable(
  load: () => Promise<{ default: ComponentType }>,
): Pick<Page, 'component' | 'load'> {
  let loaded: ComponentType | undefined;
  let component: ComponentType | undefined;
  return {
    async load() {
      loaded = (await load()).default;
    },
    component: () => (component ??= loaded ?? lazy(load)),
  };
}

/** The page at this address, if there is one. */
export function pathOf(pathname: string): AppPath | undefined {
  return APP_PATHS.find((one) =>
    new RegExp(`^${one.replaceAll(/:\w+/g, '[^/]+')}/?$`).test(pathname),
  );
}
