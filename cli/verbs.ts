import { type LoadCommand, PUBLISHED } from './program.ts';

/** The commands of a checkout: those that need the database or the service, and the published ones. */
export const VERBS: readonly (readonly [verb: string, load: LoadCommand])[] = [
  ['keys', async () => (await import('./operators/keys.ts')).createKeysCommand()],
  ['webhooks', async () => (await import('./operators/webhooks.ts')).createWebhooksCommand()],
  ['indexer', async () => (await import('./operators/indexer.ts')).createIndexerCommand()],
  ['disputes', async () => (await import('./operators/disputes.ts')).createDisputesCommand()],
  ['canary', async () => (await import('./operators/canary.ts')).createCanaryCommand()],
  ['migrate', async () => (await import('./operators/migrate.ts')).createMigrateCommand()],
  ['roles', async () => (await import('./operators/roles.ts')).createRolesCommand()],
  // With the operators' commands above.
  ...PUBLISHED.filter(([verb]) => verb !== 'webhooks'),
];
