import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { delay } from '../../common/wait.ts';
import { findFreePort } from '../../stack/port.ts';
import { PROJECT_FOLDER } from '../../testing/childProcess.ts';
import type { ComposeFile, ComposeService } from './composeFile.ts';

/** The services of a compose file as processes of this machine, in plain folders. */
export interface PlainFolders {
  /** Starts a service as its command says, after those that it waits for. */
  start(name: string): Promise<void>;
  /** Runs a command beside a service, with its environment. @throws Error unless it ends with 0 */
  execute(name: string, command: readonly string[]): Promise<string>;
  /** What a text of the compose file means here: its paths and ports. */
  translate(text: string): string;
  /** Replaces a secret, where another service than the file's gives it. */
  writeSecret(name: string, value: string): void;
  /** Ends all as `docker compose down` does. @returns how each ended */
  stop(): Promise<Record<string, number | null>>;
}

const USER_ID = 10_001;
const PORTS = /\b(?:8000|80[89]\d|8899)\b/g;
const HEALTH_INTERVAL_MS = 200;

/**
 * @param options.imageFolder what the image holds as /app
 * @param options.node the image's Node
 * @param options.given the services that something else stands in for
 */
export async function openPlainFolders(options: {
  file: ComposeFile;
  imageFolder: string;
  node: string;
  given: ReadonlySet<string>;
}): Promise<PlainFolders> {
  const { file, imageFolder, node, given } = options;
  const folder = mkdtempSync(join(tmpdir(), 'compose-'));
  chmodSync(folder, 0o755);
  const secrets = join(folder, 'secrets');
  const state = join(folder, 'state');
  for (const each of [secrets, state, join(state, 'ledger'), join(state, 'caddy')]) {
    mkdirSync(each, { mode: 0o700 });
    if (isRoot()) chownSync(each, USER_ID, USER_ID);
  }
  const ports = new Map<string, number>();
  for (const port of JSON.stringify(file).match(PORTS) ?? []) {
    if (!ports.has(port)) ports.set(port, await findFreePort());
  }
  const running = new Map<string, ChildProcess>();
  const starting = new Map<string, Promise<void>>();

  const translate = (text: string): string =>
    text
      .replace(/^\/run\/secrets\//, `${secrets}/`)
      .replace(/^\/secrets\b/, secrets)
      .replace(/^\/state\//, `${state}/`)
      .replace('/etc/caddy/Caddyfile', join(PROJECT_FOLDER, 'deploy/proxies/Caddyfile'))
      .replace(PORTS, (port) => String(ports.get(port)));

  /** In the container's folder, as its user, with its environment and none of this machine's. */
  function run(service: ComposeService, command: readonly string[]): ChildProcess {
    const words = command.map(translate);
    if (words[0] === 'node') words[0] = node;
    const settings = Object.entries(service.environment ?? {});
    const asUser = ['setpriv', `--reuid=${USER_ID}`, `--regid=${USER_ID}`, '--clear-groups'];
    const [program = '', ...rest] = isRoot() ? [...asUser, ...words] : words;
    return spawn(program, rest, {
      cwd: imageFolder,
      env: {
        PATH: '/usr/bin:/bin',
        NODE_ENV: 'production',
        ...Object.fromEntries(settings.map(([name, value]) => [name, translate(value)])),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  async function execute(name: string, command: readonly string[]): Promise<string> {
    const child = run(serviceAt(name), command);
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (piece) => output.push(String(piece)));
    }
    const [code] = await once(child, 'close');
    if (code === 0) return output.join('');
    throw new Error(`${name}: ${command.join(' ')} ended (${code}): ${output.join('')}`);
  }

  function serviceAt(name: string): ComposeService {
    const service = file.services[name];
    if (!service) throw new Error(`There is no service ${name}.`);
    return service;
  }

  async function startOnce(name: string): Promise<void> {
    const service = serviceAt(name);
    await Promise.all(Object.keys(service.depends_on ?? {}).map(start));
    if (given.has(name)) return;
    // The image's entry point is Node; others' is their command.
    const command = isOurs(service) ? ['node', ...service.command] : service.command;
    const ends = !service.healthcheck;
    if (ends) return void (await execute(name, command));
    if (isOurs(service)) await execute(name, [...command, '--check']);
    const child = run(service, command);
    const said: string[] = [];
    child.stderr?.on('data', (piece) => said.push(String(piece)));
    running.set(name, child);
    const [, ...probe] = service.healthcheck?.test ?? [];
    for (;;) {
      if (child.exitCode !== null) throw new Error(`${name} ended: ${said.join('')}`);
      const [code] = await once(run(service, probe), 'close');
      if (code === 0) return;
      await delay(HEALTH_INTERVAL_MS);
    }
  }

  function start(name: string): Promise<void> {
    const started = starting.get(name) ?? startOnce(name);
    starting.set(name, started);
    return started;
  }

  return {
    start,
    execute,
    translate,
    writeSecret: (name, value) => {
      rmSync(join(secrets, name), { force: true });
      writeFileSync(join(secrets, name), value, { mode: 0o444 });
    },
    async stop() {
      const ends: Record<string, number | null> = {};
      for (const [name, child] of [...running].reverse()) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        if (child.exitCode === null) await ended;
        ends[name] = child.exitCode;
      }
      rmSync(folder, { recursive: true, force: true });
      return ends;
    },
  };
}

const isOurs = ({ image }: ComposeService): boolean => image === 'svc';
const isRoot = (): boolean => process.getuid?.() === 0;
