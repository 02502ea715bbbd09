/** Where the pages are, in the words of express and wouter. The API serves these and no others. */

/** Paths of the app, whose document is `console/index.html`. */
export const APP_PATHS = [
  '/console',
  '/console/models',
  '/console/workers',
  '/console/workers/:worker',
  '/console/status',
  '/console/jobs',
  '/console/jobs/:job',
  '/console/playground',
  '/console/usage',
  '/console/credits',
  '/console/settings',
  '/console/settings/webhooks/:webhook',
  '/console/operator',
  '/console/arbiter',
] as const;

/** Paths of Verify, whose document is `console/verify.html`. */
export const VERIFY_PATHS = ['/verify', '/verify/:job'] as const;
