import pg from 'pg';
import { startDatabase } from '../stack/database.ts';

/** A database server for one measurement. */
export interface BenchDatabases {
  /** @returns the address of a new, empty database */
  create(): Promise<string>;
  close(): Promise<void>;
}

export async function startDatabases(): Promise<BenchDatabases> {
  const { databaseUrl: serverUrl, close } = await startDatabase();
  let created = 0;
  return {
    close,
    async create() {
      created += 1;
      const databaseUrl = new URL(serverUrl);
      databaseUrl.pathname = `bench_${created}`;
      const client = new pg.Client({ connectionString: serverUrl });
      await client.connect();
      await client.query(`create database bench_${created}`);
      await client.end();
      return databaseUrl.href;
    },
  };
}
