import { PUBLISHED, runProgram } from './program.ts';

// The commands of a checkout: those that need the database or the service, and the published ones.
await runProgram([
  ['keys', async () => (await import('./keys.ts')).createKeysCommand()],
  ['webhooks', async () => (await import('./webhooks.ts')).createWebhooksCommand()],
  ['indexer', async () => (await import('./indexer.ts')).createIndexerCommand()],
  ['disputes', async () => (await import('./disputes.ts')).createDisputesCommand()],
  ['canary', async () => (await import('./canary.ts')).createCanaryCommand()],
  ['migrate', async () => (await import('./serviceDatabase.ts')).createMigrateCommand()],
  ['backup', async () => (await import('./serviceDatabase.ts')).createBackupCommand()],
  ['restore', async () => (await import('./serviceDatabase.ts')).createRestoreCommand()],
  ...PUBLISHED,
]);
