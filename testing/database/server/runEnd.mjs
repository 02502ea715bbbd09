import { rmSync } from 'node:fs';
import { programFoldersOf } from '../../machine/programFolder.ts';
import { closeOffered } from './runStart.mjs';

/** After the last file of a run. */
export default async function runEnd() {
  await closeOffered();
  rmSync(programFoldersOf(process.pid), { recursive: true, force: true });
}
