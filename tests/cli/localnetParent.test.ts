import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { callLedger } from '../../testing/ledger/ledger.ts';
import { until } from '../../testing/until.ts';
import { killStarted, launch, readStart } from './localnetCommand.ts';

const LAUNCHER = fileURLToPath(new URL('../../cli/svc.mjs', import.meta.url));
const options = ['localnet', '--port', '0'];

afterEach(killStarted);

async function start(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = launch(file, args, env);
  const said = await readStart(child.stdout);
  const rpcUrl = /^JSON-RPC +(.+)$/m.exec(said)?.[1] ?? '';
  const isGone = () =>
    callLedger(rpcUrl, 'getHealth', []).then(
      () => false,
      () => true,
    );
  expect(await isGone()).toBe(false);
  return { child, isGone };
}

describe('the local ledger of npx svc localnet', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)('ends on %s of npx', async (signal) => {
    const { child, isGone } = await start('npx', ['--no', 'svc', ...options]);
    child.kill(signal);
    await once(child, 'exit');
    await until(isGone);
  });

  it('ends on Ctrl-C, which reaches npx and all that it runs', async () => {
    const { child, isGone } = await start('npx', ['--no', 'svc', ...options]);
    process.kill(-(child.pid as number), 'SIGINT');
    await once(child, 'exit');
    expect(await isGone()).toBe(true);
  });

  it('ends with a shell that stays between npm and it', async () => {
    // Some systems' shells replace themselves with their last command, and others do not.
    const script = `'${process.execPath}' '${LAUNCHER}' ${options.join(' ')}; exit $?`;
    const { child, isGone } = await start('sh', ['-c', script], { npm_lifecycle_event: 'npx' });
    child.kill('SIGTERM');
    await once(child, 'exit');
    await until(isGone);
  });
});
