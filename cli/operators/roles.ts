import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { describeUnreadable } from '../../common/config.ts';
import { isWholeDatabaseUrl } from '../../common/net/urls.ts';
import { inTransaction } from '../../common/postgres.ts';
import { API_ROLE, INDEXER_ROLE, makeRoles } from '../../indexer/sql/roles.ts';
import { asCommandError } from '../terminal/asCommandError.ts';
import { CommandError } from '../terminal/output.ts';
import { withDatabase } from './database.ts';

/** `svc roles`: with DATABASE_URL of an administrator, who neither API nor indexer has to be then. */
export function createRolesCommand(): Command {
  return new Command('roles')
    .description("make the database's users of indexers and APIs, each with the rights it needs")
    .requiredOption(
      '--indexer <file>',
      `holds the DATABASE_URL of indexers, whose user is ${INDEXER_ROLE}`,
    )
    .requiredOption('--api <file>', `holds the DATABASE_URL of APIs, whose user is ${API_ROLE}`)
    .action(({ indexer, api }: { indexer: string; api: string }) => {
      const passwords = {
        indexer: readPassword(indexer, INDEXER_ROLE),
        api: readPassword(api, API_ROLE),
      };
      return withDatabase(async (pool) => {
        await inTransaction(pool, (client) => makeRoles(client, passwords));
        console.log(`${INDEXER_ROLE} owns the tables, and ${API_ROLE} may use them`);
      });
    });
}

/** @throws CommandError without the address, which holds the password */
function readPassword(path: string, role: string): string {
  const text = asCommandError(
    () => readFileSync(path, 'utf8').trim(),
    (error) => `${describeUnreadable(path, error)}.`,
  );
  const { username, password } = isWholeDatabaseUrl(text)
    ? new URL(text)
    : { username: '', password: '' };
  if (username === role && password !== '') return decodeURIComponent(password);
  throw new CommandError(`${path} must hold an address like postgres://${role}:<password>@….`);
}
