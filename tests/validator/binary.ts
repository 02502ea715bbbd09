import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Solana's own validator, one process for development and tests. */
const NAME = 'solana-test-validator';
const VERSION = '4.2.2';

/** What the build needs of Debian, besides a cargo of Rust 1.95. */
export const PACKAGES = [
  ...['cargo', 'libclang-dev', 'clang', 'protobuf-compiler', 'libudev-dev', 'libssl-dev'],
  ...['pkg-config', 'cmake'],
].join(' ');

/** Where `--build` puts it: an hour's work outlives the checkout. */
function cacheFolder({ XDG_CACHE_HOME }: NodeJS.ProcessEnv = process.env): string {
  return join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc-inference', `agave-${VERSION}`);
}

export const BUILD: readonly [string, ...string[]] = [
  ...(['cargo', 'install', 'agave-validator', '--version', VERSION] as const),
  ...['--bin', NAME, '--locked', '--root', cacheFolder()],
];

export const HOW_TO_BUILD = `There is no ${NAME} on this machine. Build it once, in about an hour on two cores:

sudo apt-get install -y ${PACKAGES} && ${BUILD.join(' ')}

It stays in your cache. \`npm run test:validator -- --build\` does the part after &&, and goes on.
Where Debian's cargo is older than 1.95, take Rust's own. SOLANA_TEST_VALIDATOR names a binary that is elsewhere.`;

/**
 * @returns the binary of SOLANA_TEST_VALIDATOR, else that of PATH or of the user's cache; undefined
 *   without any
 * @throws Error when SOLANA_TEST_VALIDATOR names none
 */
export function findValidator(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const { SOLANA_TEST_VALIDATOR: named, PATH = '' } = environment;
  if (named) {
    if (isProgram(named)) return named;
    throw new Error(`SOLANA_TEST_VALIDATOR: ${named} is no program that can be run`);
  }
  const folders = [...PATH.split(delimiter), join(cacheFolder(environment), 'bin')];
  return folders.map((folder) => join(folder, NAME)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
