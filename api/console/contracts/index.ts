/**
 * The contracts of /console/api. The pages take their types from here, and import nothing else of the
 * API: `console/build` gives them `readAccess`.
 */
import { accountRoutes } from './account.ts';
import { jobRoutes } from './job.ts';
import { networkRoutes } from './network.ts';
import { operatorRoutes } from './operator.ts';
import type { Access, ConsoleRoute } from './route.ts';
import { sessionRoutes } from './session.ts';
import { settingsRoutes } from './settings.ts';
import { usageRoutes } from './usage.ts';
import { webhookRoutes } from './webhook.ts';

export type { CreatedWebhook, WebhookRequest } from '../../contracts/account.ts';
export type { ChatCompletionChunk } from '../../contracts/completionAnswer.ts';
export type { ErrorBody } from '../../contracts/errors.ts';
export type { ErrorCode } from '../../contracts/errorTable.ts';
export type * from './account.ts';
export type * from './delivery.ts';
export type * from './job.ts';
export type * from './network.ts';
export type * from './operator.ts';
export type * from './route.ts';
export type * from './session.ts';
export type * from './settings.ts';
export type * from './usage.ts';
export type * from './webhook.ts';

/** Every route of /console/api, by its name. */
export const consoleRoutes = {
  ...sessionRoutes,
  ...settingsRoutes,
  ...webhookRoutes,
  ...accountRoutes,
  ...jobRoutes,
  ...usageRoutes,
  ...networkRoutes,
  ...operatorRoutes,
} as const satisfies Record<string, ConsoleRoute>;

type Route = (typeof consoleRoutes)[keyof typeof consoleRoutes];
/** The path of a route that reads. */
export type ReadPath = Extract<Route, { method: 'GET' }>['path'];

/** Who may read what: the access of each GET route, by its path. */
export const readAccess = Object.fromEntries(
  Object.values<ConsoleRoute>(consoleRoutes)
    .filter(({ method }) => method === 'GET')
    .map(({ path, access }) => [path, access]),
) as Readonly<Record<ReadPath, Access>>;
