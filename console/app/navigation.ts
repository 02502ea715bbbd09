import type { SessionObject } from '../../api/console/contracts/index.ts';

type Role = keyof SessionObject['roles'];

interface Destination {
  readonly path: string;
  readonly name: string;
  /** The letter that leads there behind `g`. */
  readonly letter: string;
  /** Shown to a wallet with one of these roles. */
  readonly roles?: readonly Role[];
}

export interface DestinationGroup {
  readonly name: string;
  readonly destinations: readonly Destination[];
}

/** The navigation, from top to bottom. */
const NAVIGATION: readonly DestinationGroup[] = [
  {
    name: 'Wallet',
    destinations: [
      { path: '/console/jobs', name: 'Jobs', letter: 'j' },
      { path: '/console/playground', name: 'Playground', letter: 'p' },
      { path: '/console/usage', name: 'Usage', letter: 'u' },
      { path: '/console/credits', name: 'Credits', letter: 'c' },
      { path: '/console/settings', name: 'Settings', letter: 's' },
    ],
  },
  {
    name: 'Network',
    destinations: [
      { path: '/console', name: 'Home', letter: 'h' },
      { path: '/console/models', name: 'Models', letter: 'm' },
      { path: '/console/workers', name: 'Workers', letter: 'w' },
      { path: '/console/status', name: 'Status', letter: 't' },
      { path: '/verify', name: 'Verify', letter: 'v' },
      { path: '/docs', name: 'Documentation', letter: 'd' },
    ],
  },
  {
    name: 'Duties',
    destinations: [
      {
        path: '/console/operator',
        name: 'Operator',
        letter: 'o',
        roles: ['operator', 'authority', 'gateway_operator'],
      },
      { path: '/console/arbiter', name: 'Arbiter', letter: 'a', roles: ['arbiter', 'operator'] },
    ],
  },
];

/** Whether the page at this path is the destination, or belongs to it. */
export function isCurrent(target: string, path: string): boolean {
  return path === target || (target !== '/console' && path.startsWith(`${target}/`));
}

/** What a wallet, or nobody, sees of the navigation. */
export function navigationFor(session: SessionObject | null | undefined): DestinationGroup[] {
  const isShown = ({ roles }: Destination) =>
    roles === undefined || roles.some((role) => session?.roles[role]);
  return NAVIGATION.map((group) => ({
    ...group,
    destinations: group.destinations.filter(isShown),
  })).filter(({ destinations }) => destinations.length > 0);
}
