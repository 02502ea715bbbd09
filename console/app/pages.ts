import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import type { SessionObject } from '../../api/console/contracts/index.ts';
import type { APP_PATHS } from '../routes.ts';

type AppPath = (typeof APP_PATHS)[number];
type Role = keyof SessionObject['roles'];

interface Page {
  readonly component: LazyExoticComponent<ComponentType>;
  readonly access: 'public' | 'wallet';
}

const page = (access: Page['access'], load: () => Promise<{ default: ComponentType }>): Page => ({
  access,
  component: lazy(load),
});

const jobs = page('wallet', () => import('../pages/jobs/jobsPage.tsx'));

/** Each page by its path; its code is loaded when it is opened. */
export const PAGES: Readonly<Record<AppPath, Page>> = {
  '/console': page('public', () => import('../pages/public/homePage.tsx')),
  '/console/models': page('public', () => import('../pages/public/modelsPage.tsx')),
  '/console/workers': page('public', () => import('../pages/public/workersPage.tsx')),
  '/console/workers/:worker': page('public', () => import('../pages/public/workerPage.tsx')),
  '/console/status': page('public', () => import('../pages/public/statusPage.tsx')),
  '/console/jobs': jobs,
  '/console/jobs/:job': jobs,
  '/console/playground': page('wallet', () => import('../pages/playground/playgroundPage.tsx')),
  '/console/usage': page('wallet', () => import('../pages/usage/usagePage.tsx')),
  '/console/credits': page('wallet', () => import('../pages/credits/creditsPage.tsx')),
  '/console/settings': page('wallet', () => import('../pages/settings/settingsPage.tsx')),
  '/console/settings/webhooks/:webhook': page(
    'wallet',
    () => import('../pages/settings/webhookPage.tsx'),
  ),
  '/console/operator': page('wallet', () => import('../pages/operator/operatorPage.tsx')),
  '/console/arbiter': page('wallet', () => import('../pages/arbiter/arbiterPage.tsx')),
};

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

/** What a wallet, or nobody, sees of the navigation. */
export function navigationFor(session: SessionObject | null | undefined): DestinationGroup[] {
  const isShown = ({ roles }: Destination) =>
    roles === undefined || roles.some((role) => session?.roles[role]);
  return NAVIGATION.map((group) => ({
    ...group,
    destinations: group.destinations.filter(isShown),
  })).filter(({ destinations }) => destinations.length > 0);
}
