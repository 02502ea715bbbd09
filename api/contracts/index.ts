/**
 * The table of routes, of which everything else follows: guards, handlers' types, the OpenAPI document
 * and the client of the web app. The pages take their types from here, and import nothing else of the
 * API: `console/build` gives them `readAccess`.
 */
import { accountRoutes } from './account.ts';
import { completionRoutes } from './completionAnswer.ts';
import { deliveryRoutes } from './delivery.ts';
import { jobRoutes } from './job.ts';
import { modelRoutes, networkRoutes } from './network.ts';
import { operatorRoutes } from './operator.ts';
import { responsesRoutes } from './responses.ts';
import { type Access, pageAccess, type Route } from './route.ts';
import { sessionRoutes } from './session.ts';
import { settingsRoutes } from './settings.ts';
import { usageRoutes } from './usage.ts';
import { webhookOperationRoutes, webhookRoutes } from './webhook.ts';

export type * from './account.ts';
export type { ChatCompletionChunk } from './completionAnswer.ts';
export type * from './delivery.ts';
export type { ErrorBody } from './errors.ts';
export type { ErrorCode } from './errorTable.ts';
export type * from './job.ts';
export type * from './network.ts';
export type * from './operator.ts';
export type * from './route.ts';
export type * from './session.ts';
export type * from './settings.ts';
export type * from './usage.ts';
export type * from './webhook.ts';

/** The routes that keys may call. Most have a form for pages as well. */
export const sharedRoutes = {
  ...completionRoutes,
  ...responsesRoutes,
  ...modelRoutes,
  ...jobRoutes,
  ...accountRoutes,
  ...webhookRoutes,
} as const satisfies Record<string, Route>;

/** The routes for pages alone. */
export const pageRoutes = {
  ...webhookOperationRoutes,
  ...deliveryRoutes,
  ...usageRoutes,
  ...networkRoutes,
  ...settingsRoutes,
  ...sessionRoutes,
  ...operatorRoutes,
} as const satisfies Record<string, Route>;

/** Every route, by its name. */
export const routes = { ...sharedRoutes, ...pageRoutes };

type Routes = (typeof routes)[keyof typeof routes];
/** The path of a route that reads. */
export type ReadPath = Extract<Routes, { method: 'GET' }>['path'];

/** Who may read what on a page: the access of each GET route, by its path. */
export const readAccess = Object.fromEntries(
  Object.values<Route>(routes)
    .filter(({ method }) => method === 'GET')
    .map((route) => [route.path, pageAccess(route)]),
) as Readonly<Record<ReadPath, Access>>;
