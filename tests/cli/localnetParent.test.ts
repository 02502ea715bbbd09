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
  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('ends on %s of npx', async (signal) => {
    const { child, isGone } = await start('npx', ['--no', 'svc', ...options]);
    child.kill(signal);
    await once(child, 'exit');
    await until(isGone);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'ends on %s of a shell that stays between npm and it',
    async (signal) => {
      // Some systems' shells replace themselves with their last command, and others do not.
      const script = `'${process.execPath}' '${LAUNCHER}' ${options.join(' ')}; exit $?`;
      const environment = { npm_lifecycle_event: 'npx' };
      const { child, isGone } = await start('sh', ['-c', script], environment);
      child.kill(signal);
      await once(child, 'exit');
      await until(isGone);
    },
  );
});
