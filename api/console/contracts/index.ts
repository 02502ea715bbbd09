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
export type { AccountHistory, ConsoleAccount } from './account.ts';
export type { Delivery, DeliveryDetail, Replayed } from './delivery.ts';
export type { ConsoleJob, ConsoleJobList, StreamChanges } from './job.ts';
export type {
  ConsoleModel,
  ConsoleModelList,
  ConsoleWorker,
  ModelDetail,
  StatusAnswer,
  WorkerDetail,
} from './network.ts';
export type { DisputeList, KeyList, LedgerRules } from './operator.ts';
export type { Access } from './route.ts';
export type { ConsoleConfig, SessionList, SessionObject } from './session.ts';
export type { CreatedKey, KeyState } from './settings.ts';
export type { JobCountAnswer, LatencyAnswer, UsageAnswer } from './usage.ts';
export type { ConsoleWebhook } from './webhook.ts';

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
