import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import { runCli } from '../../testing/cli.ts';
import { ownFolder } from '../../testing/ownFolder.ts';

const cwd = ownFolder('run-cli');
beforeAll(() => {
  process.env.DATABASE_URL = 'postgres://svc:opensesame@127.0.0.1:1/svc';
});

/** What a command may change of the process that it runs in. */
const processNow = () => [
  ...[process.env, process.cwd(), process.exitCode, globalThis.console],
  ...[process.stdout.listenerCount('error'), process.listenerCount('SIGINT')],
];
const before = processNow();
afterEach(() => {
  const isKept = processNow().map((one, index) => one === before[index]);
  expect(isKept).toEqual(before.map(() => true));
});

describe("a command in its test's process", () => {
  it("gets its own settings, and none of the process's", async () => {
    expect(await runCli(['keys', 'list'], { cwd })).toEqual({
      ...{ code: 1, output: '' },
      error:
        'No database, on which the commands of operators work: ' +
        'set DATABASE_URL, or start a stack here with npm start.\n',
    });
    const env = { DATABASE_URL: 'postgres://svc@127.0.0.1:1/svc' };
    expect(await runCli(['keys', 'list'], { cwd, env })).toMatchObject({
      error: 'The database at 127.0.0.1:1 cannot be reached.\n',
    });
  });

  it('answers no signal once it has ended', async () => {
    const wallet = PublicKey.default.toBase58();
    const { code, error } = await runCli(['canary', '--model', 'any', '--wallet', wallet]);
    expect([code, error]).toEqual([1, expect.stringContaining('SOLANA_RPC_URL')]);
  });

  it('leaves the process as it was when it cannot be run', async () => {
    await expect(runCli(['--version'], { cwd: join(cwd, 'none') })).rejects.toThrow('ENOENT');
  });

  it('is refused while another runs', async () => {
    const first = runCli(['--version']);
    await expect(runCli(['--version'])).rejects.toThrow('Another command runs in this process');
    expect(await first).toMatchObject({ code: 0 });
  });
});
