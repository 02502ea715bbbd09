import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';
import type { SavedVerdict } from './savedAnswers.ts';

export const run = promisify(execFile);
const INSTALL_MS_MAX = 600_000;

/** What stopped a command, in its last lines. */
export function reasonOf(error: unknown): string {
  const { stderr = '', message } = error as Error & { stderr?: string };
  return (stderr.trim() || message).split('\n').slice(-4).join('\n');
}

/** @returns the commands' folder of an environment of these packages alone */
export async function installFromPypi(
  folder: string,
  packages: readonly string[],
): Promise<string> {
  await run('python3', ['-m', 'venv', folder]);
  const commands = join(folder, 'bin');
  const install = ['-m', 'pip', 'install', '--quiet', ...packages];
  await run(join(commands, 'python'), install, { timeout: INSTALL_MS_MAX });
  return commands;
}

/** @returns the commands' folder of a project of these packages alone */
export async function installFromNpm(folder: string, packages: readonly string[]): Promise<string> {
  const install = ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder];
  await run('npm', [...install, ...packages], { timeout: INSTALL_MS_MAX });
  return join(folder, 'node_modules/.bin');
}

/** Prints it; a failure is the process's. */
export function print({ what, verdict, reason }: SavedVerdict): void {
  process.stdout.write(`${verdict.padEnd(12)} ${what}\n`);
  if (reason) process.stdout.write(`${reason.replace(/^/gm, '             ')}\n`);
  if (verdict === 'FAILS') process.exitCode = 1;
}

/** @throws Error where one that was named is none of these */
export function chosenOf<Item extends { name: string }>(
  items: readonly Item[],
  named: readonly string[],
): readonly Item[] {
  const unknown = named.filter((name) => !items.some((item) => item.name === name));
  if (unknown.length > 0) throw new Error(`There is no client ${unknown.join(', ')}`);
  return named.length === 0 ? items : items.filter(({ name }) => named.includes(name));
}

/** Runs work beside a service with the preview of tools, whose model server has a script. */
export async function withService(
  script: (upstream: UpstreamServer) => void,
  work: (service: RunningService) => Promise<void>,
): Promise<void> {
  const upstream = await startUpstream();
  script(upstream);
  const service = await startRunningService({
    workers: [createUpstreamEngine({ url: upstream.url })],
    apiSettings: { SVC_PREVIEW: 'tools' },
  });
  try {
    // The worker's trial of tools has passed.
    await service.untilShown(async () =>
      (await service.get('/v1/models')).data[0].svc.supported_parameters.includes('tools'),
    );
    await work(service);
  } finally {
    await service.close();
    upstream.close();
  }
}
