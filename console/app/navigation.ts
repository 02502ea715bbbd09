import type { SessionObject } from '../../api/contracts/index.ts';
import { APP_PAGES, type AppPage, GROUPS, type Menu } from '../routes.ts';

interface Destination extends Menu {
  readonly path: string;
  readonly name: string;
}

export interface DestinationGroup {
  readonly name: string;
  readonly destinations: readonly Destination[];
}

/** The navigation: the pages in the order of `routes.ts`, and behind them documents of their own. */
const DESTINATIONS: readonly Destination[] = [
  ...Object.entries<AppPage>(APP_PAGES).flatMap(([path, { head, menu }]) =>
    menu ? [{ path, name: head?.title ?? path, ...menu }] : [],
  ),
  { path: '/verify', name: 'Verify', group: 'Network' },
  { path: '/docs', name: 'Documentation', group: 'Network' },
];

/** Whether the page at this path is the destination, or belongs to it. */
export function isCurrent(target: string, path: string): boolean {
  return path === target || (target !== '/console' && path.startsWith(`${target}/`));
}

/** The navigation as a wallet sees it, or a visitor without a session. */
export function navigationFor(session: SessionObject | null | undefined): DestinationGroup[] {
  const shown = DESTINATIONS.filter(
    ({ roles }) => roles === undefined || roles.some((role) => session?.roles[role]),
  );
  return GROUPS.map((name) => ({
    name,
    destinations: shown.filter(({ group }) => group === name),
  })).filter(({ destinations }) => destinations.length > 0);
}
