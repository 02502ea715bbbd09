import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findChromium } from '../browser.ts';
import { installPackages } from './pythonPackages.ts';

/** Where this machine has its programs, before a test is given fewer. */
const MACHINE_PATH = process.env.TESTS_MACHINE_PATH ?? process.env.PATH ?? '';
// Jest in a test of jest looks where the outer one did.
process.env.TESTS_MACHINE_PATH = MACHINE_PATH;

/** What every test may start. `docs/developing.md` names it. */
export const NEEDED: readonly string[] = [
  'node npm npx git bash sh grep sed awk find tar ps',
  'basename cat chmod cp cut date dirname du echo env expr false head id install ln ls mkdir mktemp mv nohup',
  'od printf pwd readlink realpath rm rmdir seq sleep sort split stat stty tail tee test timeout touch',
  'tr true tty uname uniq wc whoami',
].flatMap((line) => line.split(' '));

/** Something that a machine may lack, and that some tests want. */
interface Tool {
  /** Programs that a test may start once it has asked. */
  readonly programs: readonly string[];
  /** Where its program is, when it is not the first of its name. */
  readonly path?: () => string | undefined;
  /** Whether it works here, where finding its programs does not say it. */
  readonly works?: () => boolean;
}

const program = (name: string): Tool => ({ programs: [name] });
const succeeds =
  (command: string, ...args: string[]) =>
  () =>
    spawnSync(command, args, { env: { PATH: MACHINE_PATH }, stdio: 'ignore' }).status === 0;

/** What a test asks for by name, see `needs`. */
export const TOOLS = {
  caddy: program('caddy'),
  chromium: { programs: [], works: () => chromiumPath() !== undefined },
  curl: program('curl'),
  haproxy: program('haproxy'),
  helm: program('helm'),
  jq: program('jq'),
  nginx: program('nginx'),
  openssl: program('openssl'),
  'packages of PyPI': { programs: ['python3'], works: () => installPackages(MACHINE_PATH) },
  // An older one refuses the server of the tests.
  'pg_dump 18': { programs: ['pg_dump', 'pg_restore'], works: () => pgDumpVersion() >= 18 },
  promtool: program('promtool'),
  python3: { programs: ['python3'], works: succeeds('python3', '--version') },
  'python3-cryptography': { programs: ['python3'], path: findPythonWithCryptography },
  // Root may read and write everything, so it starts some as another user.
  setpriv: { programs: process.getuid?.() === 0 ? ['setpriv'] : [] },
  softhsm2: { programs: ['softhsm2-util'], works: () => findSoftHsm() !== undefined },
  'systemd-analyze': program('systemd-analyze'),
  'a full device': { programs: [], works: () => existsSync('/dev/full') },
  'a registry of npm': { programs: [], works: isRegistryThere },
  'an assembled image': { programs: [], works: () => process.env.IMAGE_FOLDER !== undefined },
  'the right to mount': { programs: ['mount', 'umount'], works: canMount },
} satisfies Readonly<Record<string, Tool>>;

export type ToolName = keyof typeof TOOLS;

/** @returns the path of a program on this machine, which a test has or has not asked for */
export const findProgram = (name: string): string | undefined => findPrograms(name)[0];

function findPrograms(name: string): string[] {
  return MACHINE_PATH.split(delimiter)
    .map((folder) => join(folder, name))
    .filter((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** A machine may have several, and its package for one of them alone. */
function findPythonWithCryptography(): string | undefined {
  return findPrograms('python3').find((path) => succeeds(path, '-c', 'import cryptography')());
}

const found = new Map<ToolName, ReadonlyMap<string, string> | undefined>();

/**
 * Looks for a tool, once in a process.
 *
 * @returns its programs with their paths; undefined where this machine does not have it
 */
export function findTool(name: ToolName): ReadonlyMap<string, string> | undefined {
  if (!found.has(name)) found.set(name, lookFor(TOOLS[name]));
  return found.get(name);
}

function lookFor({ programs, path, works = () => true }: Tool): Map<string, string> | undefined {
  const paths = new Map<string, string>();
  for (const name of programs) {
    const at = path ? path() : findProgram(name);
    if (at === undefined) return undefined;
    paths.set(name, at);
  }
  return works() ? paths : undefined;
}

/** Undefined where the machine has none. */
export const chromiumPath = (): string | undefined =>
  findChromium({ ...process.env, PATH: MACHINE_PATH });

/** The module of SoftHSM; undefined without it, or without the package that speaks to it. */
export function findSoftHsm(): string | undefined {
  try {
    createRequire(import.meta.url).resolve('pkcs11js');
  } catch {
    return undefined;
  }
  const libraries = ['/usr/lib', ...readdirSync('/usr/lib').map((name) => `/usr/lib/${name}`)];
  return libraries
    .map((folder) => join(folder, 'softhsm/libsofthsm2.so'))
    .find((path) => existsSync(path));
}

const REGISTRY_WAIT_MS = 5_000;

/** Whether npm's registry, by the settings of this user, answers for one small package. */
function isRegistryThere(): boolean {
  const npm = findProgram('npm');
  const { status } = spawnSync(
    npm ?? 'npm',
    ['view', 'is-number', 'version', '--fetch-retries=0'],
    {
      env: { ...process.env, PATH: MACHINE_PATH },
      timeout: REGISTRY_WAIT_MS,
      stdio: 'ignore',
    },
  );
  return status === 0;
}

function pgDumpVersion(): number {
  const { stdout } = spawnSync('pg_dump', ['--version'], { env: { PATH: MACHINE_PATH } });
  return Number(/\d+/.exec(String(stdout))?.[0]);
}

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'svc-mount-'));
  const isMounted = succeeds('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder)();
  if (isMounted) succeeds('umount', folder)();
  rmSync(folder, { recursive: true });
  return isMounted;
}
