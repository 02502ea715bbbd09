import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkout } from '../../programs/tools/artifacts.ts';
import { findTool } from '../../testing/machine/tools.ts';
import { VERIFIER } from '../receipts/runInPython.ts';

const run = promisify(execFile);
const ANSWER = '.answer';
/** The checks of question and answer that have to hold. */
const CHECKS = ['delivery.output', 'delivery.receipt', 'delivery.request', 'delivery.answer'];

/** What became of a saved answer. */
export interface SavedVerdict {
  readonly what: string;
  readonly verdict: 'works' | 'FAILS' | 'NOT CHECKED';
  readonly reason?: string;
}

/**
 * Verifies what a client has saved, with each implementation: question and answer have to hold.
 *
 * @param folder has an answer and a request for each way in which its users keep them
 */
export async function verifySaved(folder: string, rpcUrl: string): Promise<SavedVerdict[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(ANSWER)).toSorted();
  const verdicts: SavedVerdict[] = [];
  const python = findTool('python3-cryptography')?.get('python3');
  for (const name of names.map((file) => file.slice(0, -ANSWER.length))) {
    const path = join(folder, name);
    const files = ['--response', `${path}${ANSWER}`, '--request', `${path}.request`];
    const options = ['--rpc', rpcUrl, ...files, '--json'];
    const svc = join(checkout, 'cli/main.ts');
    const ours = [process.execPath, svc, 'verify', ...options] as const;
    verdicts.push(await verify(`${name}: svc verify`, ours));
    const what = `${name}: svc_verify.py`;
    verdicts.push(
      python === undefined
        ? { what, verdict: 'NOT CHECKED', reason: 'wants python3-cryptography' }
        : await verify(what, [python, VERIFIER, ...options]),
    );
  }
  return verdicts;
}

async function verify(
  what: string,
  [command, ...args]: readonly [string, ...string[]],
): Promise<SavedVerdict> {
  try {
    const { stdout } = await run(command, args);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; verdict: string }[] };
    const held = checks.filter(({ verdict }) => verdict === 'holds').map(({ name }) => name);
    const missing = CHECKS.filter((name) => !held.includes(name));
    if (missing.length === 0) return { what, verdict: 'works' };
    return { what, verdict: 'FAILS', reason: `not held: ${missing.join(', ')}` };
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & Record<string, string>;
    return { what, verdict: 'FAILS', reason: `${stdout}${stderr}`.trim() || message };
  }
}
