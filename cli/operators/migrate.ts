import { Command } from 'commander';
import { DatabaseTooNewError, migrate, readMigrationState } from '../../indexer/sql/migrate.ts';
import { asCommandError } from '../terminal/asCommandError.ts';
import { withDatabase } from './database.ts';

/** `svc migrate`: what the indexer does at its start, as a step of a deployment. */
export function createMigrateCommand(): Command {
  return new Command('migrate')
    .description("bring the database to this release's schema, as an indexer's start does")
    .option('--check', 'change nothing; exit code 2 while migrations are to come')
    .action(({ check }: { check?: boolean }) =>
      withDatabase((pool) =>
        asCommandError(
          async () => {
            const before = await readMigrationState(pool);
            if (check) {
              console.log(`${before.applied} migrations applied, ${before.missing} to come`);
              if (before.missing > 0) process.exitCode = 2;
              return;
            }
            await migrate(pool);
            console.log(`${before.missing} migrations applied now, ${before.applied} before`);
          },
          (error) => (error instanceof DatabaseTooNewError ? `${error.message}.` : undefined),
        ),
      ),
    );
}
