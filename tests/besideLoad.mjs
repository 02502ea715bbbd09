// `npm run test:beside-load -- --runs 5`: runs the suite beside busy loops and prints what failed. What
// follows, after a `--` where it begins with one, goes to jest: a folder, for one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { root } from '../bin/pinnedNode.mjs';

const LOOPS = 4;
/** It ends with this process, however that ends. */
const LOOP = `while (process.ppid === ${process.pid}) for (let step = 0; step < 1e7; step += 1);`;
const LAUNCHER = fileURLToPath(new URL('launch.mjs', import.meta.url));

const { values, positionals } = parseArgs({
  options: { runs: { type: 'string', default: '5' } },
  allowPositionals: true,
});
const print = (line) => process.stdout.write(`${line}\n`);
const row = (cells) => print(cells.map((cell) => String(cell).padStart(8)).join(''));

const folder = mkdtempSync(join(tmpdir(), 'svc-beside-load-'));
const children = Array.from({ length: LOOPS }, () => spawn(process.execPath, ['-e', LOOP]));
process.once('exit', () => {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

const runs = [];
for (let number = 1; number <= Number(values.runs); number += 1) runs.push(await run(number));
for (const { failures } of runs) for (const failure of failures) print(failure);
row(['run', 'passed', 'failed', 'seconds']);
for (const [index, { passed, failures, seconds }] of runs.entries()) {
  row([index + 1, passed, failures.length, seconds]);
}
process.exit(runs.some(({ failures }) => failures.length > 0) ? 1 : 0);

async function run(number) {
  const outputFile = join(folder, `${number}.json`);
  const startedAt = performance.now();
  const suite = spawn(
    process.execPath,
    [LAUNCHER, ...positionals, '--json', `--outputFile=${outputFile}`],
    { stdio: 'inherit' },
  );
  children.push(suite);
  const [code] = await once(suite, 'exit');
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const { numPassedTests = 0, testResults = [] } = existsSync(outputFile)
    ? JSON.parse(readFileSync(outputFile, 'utf8'))
    : {};
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    // A file that does not load has no tests.
    if (status === 'failed' && failed.length === 0) {
      failed.push({ fullName: message.trim().split(/\n\s*/, 2).join(' ') });
    }
    return failed.map(({ fullName, failureMessages = [] }) => {
      const seed = /\bseed \d+/.exec([fullName, ...failureMessages].join('\n')) ?? 'without a seed';
      return `run ${number}  ${relative(root, name)}  ${fullName}  (${seed})`;
    });
  });
  // Jest itself failed.
  if (code !== 0 && failures.length === 0) failures.push(`run ${number}  ended with ${code}`);
  return { passed: numPassedTests, failures, seconds };
}
