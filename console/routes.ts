/** Where the pages are, in the words of express and wouter. The API serves these and no others. */

/** What a page begins with: its document shows it before there is a script, and the page draws it again. */
export interface PageHead {
  readonly title: string;
  readonly lead: string;
  readonly size?: 'large';
}

export interface AppPage {
  /** Below `console/`. */
  readonly module: string;
  readonly access: 'public' | 'wallet';
  /** Unless it depends on what is read. */
  readonly head?: PageHead;
  /** Of the app, where one page stays open over several paths. */
  readonly pattern?: string;
  /** What it asks the API for at once: the answers are on their way before its code is. */
  readonly reads: readonly string[];
  /** The first pages of what it reads page by page, on their way as early. */
  readonly lists?: readonly string[];
  /** What only a wallet with this role may read: asked for as soon as the session is known. */
  readonly duty?: { readonly role: 'arbiter'; readonly read: string };
}

const jobs = {
  module: 'pages/jobs/jobsPage.tsx',
  access: 'wallet',
  head: {
    title: 'Jobs',
    lead: 'Each request to the API is a job: its state on the ledger, its times and its price.',
  },
  reads: ['/models'],
} as const;

/** The pages of the app, whose documents are made of `console/index.html`. */
export const APP_PAGES = {
  '/console': {
    module: 'pages/public/homePage.tsx',
    access: 'public',
    head: {
      title: 'Inference that anybody can verify',
      lead: 'A chat-completions API. Each job is paid on a ledger only when its worker proves the text that you received.',
      size: 'large',
    },
    reads: ['/network', '/models'],
  },
  '/console/models': {
    module: 'pages/public/modelsPage.tsx',
    access: 'public',
    head: {
      title: 'Models',
      lead: 'Prices are on the ledger. A job is charged by them and never more than it locked.',
    },
    reads: ['/models'],
  },
  '/console/workers': {
    module: 'pages/public/workersPage.tsx',
    access: 'public',
    head: {
      title: 'Workers',
      lead: 'Each has tokens at stake, and loses some of them for two proofs of one attempt.',
    },
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
    head: {
      title: 'Status',
      lead: 'What the service needs, part by part, and what it means when one of them is away.',
    },
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
    head: {
      title: 'Playground',
      lead: "Ask a model with your API key's rights, for the same credits as any other request.",
    },
    reads: ['/models', '/key'],
  },
  '/console/usage': {
    module: 'pages/usage/usagePage.tsx',
    access: 'wallet',
    head: {
      title: 'Usage',
      lead: 'What your jobs were charged and how long they took, by day or hour and by model.',
    },
    reads: ['/models'],
  },
  '/console/credits': {
    module: 'pages/credits/creditsPage.tsx',
    access: 'wallet',
    head: {
      title: 'Credits',
      lead: 'They are on the ledger: jobs lock and spend them, and you can withdraw the others.',
    },
    reads: [],
    lists: ['/account/history'],
  },
  '/console/settings': {
    module: 'pages/settings/settingsPage.tsx',
    access: 'wallet',
    head: {
      title: 'Settings',
      lead: "Your wallet's API key, its alert for low credits, its webhooks, and where you are signed in.",
    },
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
    head: {
      title: 'Operator',
      lead: 'The API keys of this service, and what it follows on the ledger: pauses, gateway, models.',
    },
    reads: ['/operator/ledger'],
  },
  '/console/arbiter': {
    module: 'pages/arbiter/arbiterPage.tsx',
    access: 'wallet',
    head: {
      title: 'Arbiter',
      lead: 'Open disputes, the most urgent first. A verdict for the client needs signed evidence.',
    },
    reads: [],
    duty: { role: 'arbiter', read: '/arbiter/disputes' },
  },
} as const satisfies Readonly<Record<`/console${string}`, AppPage>>;

/** What the pages of a wallet show to somebody who is not signed in. */
export const SIGN_IN_HEAD = {
  title: 'Sign in with your wallet',
  lead: 'Your wallet owns your credits and your API key. There is no account and no password.',
} as const satisfies PageHead;

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

/**
 * Where the build puts a page's document. That of a wallet's page is another one for a reader without
 * a session, who is asked to sign in there.
 */
export function documentOf({ module, access }: AppPage, hasSession: boolean): string {
  const name = module.replace(/^.*\//, '').replace(/\.tsx$/, '');
  return `documents/${name}${access === 'wallet' && !hasSession ? '.signedOut' : ''}.html`;
}

/** Paths of Verify, whose document is `console/verify.html`. */
export const VERIFY_PATHS = ['/verify', '/verify/:job'] as const;
