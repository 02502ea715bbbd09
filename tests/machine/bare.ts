import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, NEEDED } from '../../testing/machine/tools.ts';
import { ROOT } from '../tidy/sourceTree.ts';
import { testsByTool } from './toolTable.ts';

// `npm run test:bare`: the tests that want something of the machine, or those that are named, where
// it has only what every test may start. What people's machines have besides is odd on purpose.

/** A user's own files, none of which a test may read. */
const HOME_FILES = {
  '.bashrc': 'echo a start-up file was read; exit 3\n',
  '.bash_profile': 'echo a start-up file was read; exit 3\n',
  '.profile': 'echo a start-up file was read; exit 3\n',
  '.npmrc': 'registry=http://127.0.0.1:9/\nloglevel=silly\nsave-exact=false\n',
  '.gitconfig': '[core]\n\tquotePath = false\n[init]\n\tdefaultBranch = other\n',
};
/** Ports that documents and defaults name, and that another user of the machine may have. */
const PORTS = [3000, 5432, 8000, 8080, 8081, 8090, 8899, 8900, 9090];
const DEAD_PROXY = 'http://127.0.0.1:9';

const folder = mkdtempSync(join(tmpdir(), 'svc-bare-'));
const programs = join(folder, 'programs');
const home = join(folder, 'home');
for (const each of [programs, home]) mkdirSync(each);
// The database server runs as another user, and starts some of them.
for (const each of [folder, programs]) chmodSync(each, 0o755);
for (const name of NEEDED) {
  const path = findProgram(name);
  if (path !== undefined) symlinkSync(path, join(programs, name));
}
for (const [name, text] of Object.entries(HOME_FILES)) writeFileSync(join(home, name), text);
process.umask(0o077);
const occupied = (await Promise.all(PORTS.map(occupy))).filter((server) => server !== undefined);

const named = process.argv.slice(2);
const wanting = new Set([...testsByTool().values()].flat());
const report = join(folder, 'report.json');
const tests = spawn(
  'npm',
  ['test', '--', ...(named.length > 0 ? named : wanting), '--json', `--outputFile=${report}`],
  {
    cwd: ROOT,
    stdio: 'inherit',
    env: {
      PATH: programs,
      HOME: home,
      BASH_ENV: join(home, '.bashrc'),
      TZ: 'Asia/Kathmandu',
      LANG: 'de_DE.UTF-8',
      LC_ALL: 'de_DE.UTF-8',
      http_proxy: DEAD_PROXY,
      HTTPS_PROXY: DEAD_PROXY,
      ALL_PROXY: DEAD_PROXY,
    },
  },
);
const [code] = await once(tests, 'exit');
process.exitCode = code === 0 && isEverySkipNamed() ? 0 : 1;
for (const server of occupied) server.close();
rmSync(folder, { recursive: true, force: true });

function isEverySkipNamed(): boolean {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: { assertionResults: { status: string; fullName: string }[] }[];
  };
  const unnamed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, fullName }) => status === 'pending' && !/NOT CHECKED: wants/.test(fullName));
  for (const { fullName } of unnamed)
    process.stderr.write(`Skipped without a reason: ${fullName}\n`);
  return unnamed.length === 0;
}

/** @returns undefined where somebody has the port already */
async function occupy(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}
