/** Where the pages are, in the words of express and wouter. The API serves these and no others. */

export interface AppPage {
  /** Below `console/`. */
  readonly module: string;
  readonly access: 'public' | 'wallet';
  /** Of the app, where one page stays open over several paths. */
  readonly pattern?: string;
  /** What it asks the API for at once: the answers are on their way before its code is. */
  readonly reads: readonly string[];
  /** The first pages of what it reads page by page, on their way as early. */
  readonly lists?: readonly string[];
  /** What only a wallet with this role may read: asked for as soon as the session is known. */
  readonly duty?: { readonly role: 'arbiter'; readonly read: string };
}

const jobs = { module: 'pages/jobs/jobsPage.tsx', access: 'wallet', reads: ['/models'] } as const;

/** The pages of the app, whose documents are made of `console/index.html`. */
export const APP_PAGES = {
  '/console': {
    module: 'pages/public/homePage.tsx',
    access: 'public',
    reads: ['/network', '/models'],
  },
  '/console/models': {
    module: 'pages/public/modelsPage.tsx',
    access: 'public',
    reads: ['/models'],
  },
  '/console/workers': {
    module: 'pages/public/workersPage.tsx',
    access: 'public',
    reads: ['/workers'],
  },
  '/console/workers/:worker': {
    module: 'pages/public/workerPage.tsx',
    access: 'public',
    reads: [],
  },
  '/console/status': {
    module: 'pages/public/statusPage.tsx',
    access: 'public',
    reads: ['/status'],
  },
  '/console/jobs': {
    ...jobs,
    pattern: '/console/jobs/:job?',
    reads: ['/models', '/job-counts'],
    lists: ['/jobs?limit=100'],
  },
  '/console/jobs/:job': jobs,
  '/console/playground': {
    module: 'pages/playground/playgroundPage.tsx',
    access: 'wallet',
    reads: ['/models', '/key'],
  },
  '/console/usage': {
    module: 'pages/usage/usagePage.tsx',
    access: 'wallet',
    reads: ['/models'],
  },
  '/console/credits': {
    module: 'pages/credits/creditsPage.tsx',
    access: 'wallet',
    reads: [],
    lists: ['/account/history'],
  },
  '/console/settings': {
    module: 'pages/settings/settingsPage.tsx',
    access: 'wallet',
    reads: ['/key', '/threshold', '/webhooks', '/sessions', '/models'],
  },
  '/console/settings/webhooks/:webhook': {
    module: 'pages/settings/webhookPage.tsx',
    access: 'wallet',
    reads: ['/webhooks'],
  },
  '/console/operator': {
    module: 'pages/operator/operatorPage.tsx',
    access: 'wallet',
    reads: ['/operator/ledger'],
  },
  '/console/arbiter': {
    module: 'pages/arbiter/arbiterPage.tsx',
    access: 'wallet',
    reads: [],
    duty: { role: 'arbiter', read: '/arbiter/disputes' },
  },
} as const satisfies Readonly<Record<`/console${string}`, AppPage>>;

export type AppPath = keyof typeof APP_PAGES;

export const APP_PATHS = Object.keys(APP_PAGES) as AppPath[];

/** What every page asks for at once, and what one does whose reader is signed in. */
const COMMON_READS = { anybody: ['/session', '/config'], wallet: ['/account'] };

/**
 * What a page asks for at once: nothing that its reader may not read, and where its address has
 * filters, nothing of its own, since that would be another list.
 *
 * @param page undefined where there is none at the address
 */
export function earlyReadsOf(
  page: AppPage | undefined,
  reader: { readonly hasSession: boolean; readonly isFiltered: boolean },
): Required<Pick<AppPage, 'reads' | 'lists'>> {
  const { hasSession, isFiltered } = reader;
  const isShown = page && !isFiltered && (page.access === 'public' || hasSession);
  const { reads = [], lists = [] } = isShown ? page : {};
  return {
    reads: [...COMMON_READS.anybody, ...(hasSession ? COMMON_READS.wallet : []), ...reads],
    lists,
  };
}

/** Where the build puts the document of a page's module. */
export function documentOf(module: string): string {
  return `documents/${module.replace(/^.*\//, '').replace(/\.tsx$/, '.html')}`;
}

/** Paths of Verify, whose document is `console/verify.html`. */
export const VERIFY_PATHS = ['/verify', '/verify/:job'] as const;
