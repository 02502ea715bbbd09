import { type Verb, withWebhooks } from './program.ts';

/** The commands of a checkout: the published ones, and those that need the database or the service. */
export const VERBS: readonly Verb[] = [
  // With the operators' commands below the customers'.
  ...withWebhooks(async () => (await import('./operators/webhooks.ts')).createWebhooksCommand()),
  ['keys', async () => (await import('./operators/keys.ts')).createKeysCommand()],
  ['indexer', async () => (await import('./operators/indexer.ts')).createIndexerCommand()],
  ['disputes', async () => (await import('./operators/disputes.ts')).createDisputesCommand()],
  ['canary', async () => (await import('./operators/canary.ts')).createCanaryCommand()],
  ['migrate', async () => (await import('./operators/migrate.ts')).createMigrateCommand()],
  ['roles', async () => (await import('./operators/roles.ts')).createRolesCommand()],
];
