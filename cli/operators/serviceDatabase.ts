import { stat } from 'node:fs/promises';
import { Command } from 'commander';
import { BackupError, restoreBackup, writeBackup } from '../../indexer/backup/backup.ts';
import { DatabaseTooNewError, migrate, readMigrationState } from '../../indexer/sql/migrate.ts';
import { CommandError } from '../terminal/output.ts';
import { withDatabase } from './database.ts';

/** `svc migrate`: what the indexer does at its start, as a step of a deployment. */
export function createMigrateCommand(): Command {
  return new Command('migrate')
    .description("bring the database to this release's schema, as an indexer's start does")
    .option('--check', 'change nothing; exit code 2 while migrations are to come')
    .action(({ check }: { check?: boolean }) =>
      withDatabase((pool) =>
        explained(async () => {
          const before = await readMigrationState(pool);
          if (check) {
            console.log(`${before.applied} migrations applied, ${before.missing} to come`);
            if (before.missing > 0) process.exitCode = 2;
            return;
          }
          await migrate(pool);
          console.log(`${before.missing} migrations applied now, ${before.applied} before`);
        }),
      ),
    );
}

/** `svc backup` and `svc restore`: what the ledger does not know, in one file. */
export function createBackupCommand(): Command {
  return new Command('backup')
    .description('write the schema service to a file while everything runs')
    .argument('<file>', 'the file to make; it holds sealed secrets and hashes of keys')
    .action((file: string) =>
      withDatabase((_pool, databaseUrl) =>
        explained(async () => {
          const { tables, rows } = await writeBackup(databaseUrl, file);
          const { size } = await stat(file);
          console.log(`${file}: ${tables} tables, ${rows} rows, ${size} bytes`);
        }),
      ),
    );
}

export function createRestoreCommand(): Command {
  return new Command('restore')
    .description('fill an empty database from a backup; then start an indexer on it')
    .argument('<file>', 'a file that svc backup wrote')
    .action((file: string) =>
      withDatabase((_pool, databaseUrl) =>
        explained(async () => {
          const { tables, rows } = await restoreBackup(databaseUrl, file);
          console.log(`${tables} tables, ${rows} rows. Next: start one indexer, without any API.`);
        }),
      ),
    );
}

async function explained(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isKnown = error instanceof BackupError || error instanceof DatabaseTooNewError;
    if (isKnown) throw new CommandError(`${error.message}.`, { cause: error });
    const { code, path } = error as NodeJS.ErrnoException;
    if (path) throw new CommandError(`${path} cannot be used (${code}).`, { cause: error });
    throw error;
  }
}
