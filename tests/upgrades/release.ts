import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT_FOLDER } from '../../testing/childProcess.ts';

/** A release in a folder of its own, installed as an operator would. */
export interface Release {
  folder: string;
  remove(): Promise<void>;
}

/**
 * Puts the sources of `ref` (a tag or commit of this repository) into a temporary folder, with what
 * their own lockfile names.
 *
 * @throws Error with the output when a step fails
 */
export async function installRelease(ref: string): Promise<Release> {
  const folder = await mkdtemp(join(tmpdir(), 'release-'));
  const archive = join(folder, 'sources.tar');
  await run('git', ['archive', '--output', archive, ref], { folder: PROJECT_FOLDER });
  await run('tar', ['-xf', archive], { folder });
  await run('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], { folder });
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Runs a program to its end. @returns its output @throws Error with the output when it fails */
export async function run(
  command: string,
  args: readonly string[],
  { folder, ...environment }: { folder: string } & Record<string, string>,
): Promise<string> {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece) => output.push(String(piece)));
  }
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} (${code}): ${output.join('')}`);
  return output.join('');
}
