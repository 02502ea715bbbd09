import { readdir, readFile } from 'node:fs/promises';

const DIRECTORY = new URL('./migrations/', import.meta.url);
const FILE_NAME = /^(\d{6})_(\w+)\.sql$/;

/** One numbered step of the schema; steps are never changed once released, only added. */
export interface Migration {
  readonly id: number;
  /** Names its tables without a schema, so that the mirror can be made beside another one. */
  readonly isOfMirror: boolean;
  read(): Promise<string>;
}

/** All steps, in order. */
export async function listMigrations(): Promise<Migration[]> {
  const files = (await readdir(DIRECTORY)).sort();
  return files.flatMap((file) => {
    const [, id, name] = FILE_NAME.exec(file) ?? [];
    if (id === undefined || name === undefined) return [];
    return {
      id: Number(id),
      isOfMirror: name.startsWith('mirror'),
      read: () => readFile(new URL(file, DIRECTORY), 'utf8'),
    };
  });
}
