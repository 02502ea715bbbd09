import { stat } from 'node:fs/promises';
import { Command } from 'commander';
import { BackupError, restoreBackup, writeBackup } from '../../indexer/backup/backup.ts';
import { connectNode } from '../../indexer/source/node.ts';
import { createLedgerSource } from '../../indexer/source/source.ts';
import { DatabaseTooNewError, migrate, readMigrationState } from '../../indexer/sql/migrate.ts';
import type { BoundLedger } from '../../indexer/sql/progress.ts';
import { asCommandError } from '../terminal/asCommandError.ts';
import { CommandError } from '../terminal/output.ts';
import { withDatabase } from './database.ts';
import { explainNode, type LedgerChoice, locateLedger, withLedgerOption } from './ledgerChoice.ts';

/** `svc migrate`: what the indexer does at its start, as a step of a deployment. */
export function createMigrateCommand(): Command {
  return new Command('migrate')
    .description("bring the database to this release's schema, as an indexer's start does")
    .option('--check', 'change nothing; exit code 2 while migrations are to come')
    .action(({ check }: { check?: boolean }) =>
      withDatabase((pool) =>
        asCommandError(async () => {
          const before = await readMigrationState(pool);
          if (check) {
            console.log(`${before.applied} migrations applied, ${before.missing} to come`);
            if (before.missing > 0) process.exitCode = 2;
            return;
          }
          await migrate(pool);
          console.log(`${before.missing} migrations applied now, ${before.applied} before`);
        }, explain),
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
        asCommandError(async () => {
          const { tables, rows } = await writeBackup(databaseUrl, file);
          const { size } = await stat(file);
          console.log(`${file}: ${tables} tables, ${rows} rows, ${size} bytes`);
        }, explain),
      ),
    );
}

export function createRestoreCommand(): Command {
  const command = new Command('restore')
    .description('fill an empty database from a backup; then start an indexer on it')
    .argument('<file>', 'a file that svc backup wrote');
  return withLedgerOption(command)
    .option('--offline', 'ask no node whether the backup is of its ledger')
    .action((file: string, choice: LedgerChoice & { offline?: true }) =>
      withDatabase((_pool, databaseUrl) =>
        asCommandError(async () => {
          const ledger = choice.offline ? undefined : await readLedger(choice);
          const { tables, rows } = await restoreBackup(databaseUrl, file, ledger);
          console.log(`${tables} tables, ${rows} rows. Next: start one indexer, without any API.`);
        }, explain),
      ),
    );
}

/** The ledger that the settings name, by its node's word. */
async function readLedger(choice: LedgerChoice): Promise<BoundLedger> {
  const read = async () => {
    const { rpcUrl, programId } = locateLedger(choice);
    const source = createLedgerSource({ node: connectNode({ url: rpcUrl }), programId });
    const genesisHash = await explainNode(source.genesisHash());
    return { genesisHash, programId: programId.toBase58() };
  };
  return asCommandError(read, (error) =>
    error instanceof CommandError
      ? `${error.message} To restore without asking a node: --offline.`
      : undefined,
  );
}

function explain(error: NodeJS.ErrnoException): string | undefined {
  if (error instanceof BackupError || error instanceof DatabaseTooNewError) {
    return `${error.message}.`;
  }
  return error.path && `${error.path} cannot be used (${error.code}).`;
}
