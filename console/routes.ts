import type { ReadPath, SessionObject } from '../api/contracts/index.ts';

/** Where the pages are, in the words of express and wouter. The API serves these and no others. */

/** What a page begins with: its document shows it before there is a script, and the page draws it again. */
export interface PageHead {
  readonly title: string;
  readonly lead: string;
  readonly size?: 'large';
}

/** The groups of the navigation, from top to bottom. */
export const GROUPS = ['Wallet', 'Network', 'Duties'] as const;

/** A place in the navigation. */
export interface Menu {
  readonly group: (typeof GROUPS)[number];
  /** Unless the page's title. */
  readonly name?: string;
  /** Shown to a wallet with one of these roles; by default to everybody. */
  readonly roles?: readonly (keyof SessionObject['roles'])[];
}

/** A route, with the query that the page asks it with. */
export type EarlyRead = ReadPath | `${ReadPath}?${string}`;

/** Everything that the rest of the app has to know of a page. */
export interface AppPage {
  /** Below `console/`. */
  readonly module: string;
  readonly access: 'public' | 'wallet';
  /** Unless it depends on what is read. */
  readonly head?: PageHead;
  /** Absent where only other pages lead to it. */
  readonly menu?: Menu;
  /** Of the app, where one page stays open over several paths. */
  readonly pattern?: string;
  /** What its document has the browser ask the API for, so that the answers come before its code. */
  readonly reads: readonly EarlyRead[];
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
    menu: { group: 'Network', name: 'Home' },
    reads: ['/network', '/models'],
  },
  '/console/models': {
    module: 'pages/public/modelsPage.tsx',
    access: 'public',
    head: {
      title: 'Models',
      lead: 'Prices are on the ledger. A job is charged by them and never more than it locked.',
    },
    menu: { group: 'Network' },
    reads: ['/models'],
  },
  '/console/models/:model': { module: 'pages/public/modelPage.tsx', access: 'public', reads: [] },
  '/console/workers': {
    module: 'pages/public/workersPage.tsx',
    access: 'public',
    head: {
      title: 'Workers',
      lead: 'Each has tokens at stake, and loses some of them for two proofs of one attempt.',
    },
    menu: { group: 'Network' },
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
      lead: 'The parts that the service needs, and what happens while one of them is away.',
    },
    menu: { group: 'Network' },
    reads: ['/status'],
  },
  '/console/jobs': {
    ...jobs,
    pattern: '/console/jobs/:job?',
    menu: { group: 'Wallet' },
    reads: ['/models', '/job-counts', '/jobs?limit=100'],
  },
  '/console/jobs/:job': jobs,
  '/console/playground': {
    module: 'pages/playground/playgroundPage.tsx',
    access: 'wallet',
    head: {
      title: 'Playground',
      lead: "Ask a model with your API key's rights, for the same credits as any other request.",
    },
    menu: { group: 'Wallet' },
    reads: ['/models', '/key'],
  },
  '/console/usage': {
    module: 'pages/usage/usagePage.tsx',
    access: 'wallet',
    head: {
      title: 'Usage',
      lead: 'What your jobs were charged and how long they took, by day or hour and by model.',
    },
    menu: { group: 'Wallet' },
    reads: ['/models'],
  },
  '/console/credits': {
    module: 'pages/credits/creditsPage.tsx',
    access: 'wallet',
    head: {
      title: 'Credits',
      lead: 'They are on the ledger: jobs lock and spend them, and you can withdraw the others.',
    },
    menu: { group: 'Wallet' },
    reads: ['/account/history'],
  },
  '/console/settings': {
    module: 'pages/settings/settingsPage.tsx',
    access: 'wallet',
    head: {
      title: 'Settings',
      lead: "Your wallet's API key, its alert for low credits, its webhooks, and where you are signed in.",
    },
    menu: { group: 'Wallet' },
    reads: ['/key', '/threshold', '/webhooks', '/sessions', '/models'],
  },
  '/console/settings/events': {
    module: 'pages/settings/eventsPage.tsx',
    access: 'wallet',
    head: {
      title: 'Events',
      lead: 'What was sent to your webhooks, or waits to be: each with its body and every answer.',
    },
    reads: ['/webhooks', '/deliveries?limit=50'],
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
    menu: { group: 'Duties', roles: ['operator', 'authority', 'gateway_operator'] },
    reads: ['/operator/ledger'],
  },
  '/console/arbiter': {
    module: 'pages/arbiter/arbiterPage.tsx',
    access: 'wallet',
    head: {
      title: 'Arbiter',
      lead: 'Open disputes, the most urgent first. A verdict for the client needs signed evidence.',
    },
    menu: { group: 'Duties', roles: ['arbiter', 'operator'] },
    reads: [],
  },
} as const satisfies Readonly<Record<`/console${string}`, AppPage>>;

/** What the pages of a wallet show to a visitor without a session. */
export const SIGN_IN_HEAD = {
  title: 'Sign in with your wallet',
  lead: 'Your wallet owns your credits and your API key. There is no account and no password.',
} as const satisfies PageHead;

export type AppPath = keyof typeof APP_PAGES;

export const APP_PATHS = Object.keys(APP_PAGES) as AppPath[];

/** Where the build puts the document of a page. */
export const documentOf = ({ module }: AppPage): string =>
  `documents/${module.replace(/^.*\//, '').replace(/\.tsx$/, '')}.html`;

/**
 * Where it puts the one that asks for a sign-in, in the place of every wallet's page. With the page's own
 * document the largest paint came after 908 ms instead of 544.
 */
export const SIGN_IN_DOCUMENT = 'documents/signIn.html';

/** Paths of Verify, whose document is `console/verify.html`. */
export const VERIFY_PATHS = ['/verify', '/verify/:job'] as const;
