import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { BUILD, findValidator, HOW_TO_BUILD, PACKAGES } from './binary.ts';
import { startValidator } from './startValidator.ts';

/**
 * `npm run test:validator`: Solana's own validator, and on it the service and the contract suite of
 * the local ledger, or the tests that are named. `-- --build` builds the validator where there is
 * none.
 */
const TESTS = ['tests/validator/service.test.ts', 'tests/localnet/contract'];
const LAUNCHER = fileURLToPath(new URL('../launch.mjs', import.meta.url));

const { values, positionals } = parseArgs({
  options: { build: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const tests = positionals.length > 0 ? positionals : TESTS;
const found = findValidator() ?? (values.build ? await build() : undefined);
if (found === undefined) {
  process.stderr.write(`${HOW_TO_BUILD}\n`);
  process.exit(2);
}
const authority = Keypair.generate();
const validator = await startValidator(found, authority.publicKey);
try {
  const { rpcUrl, wsUrl } = validator;
  process.stdout.write(`${validator.version} at ${rpcUrl}\n`);
  process.exitCode = await run(process.execPath, [LAUNCHER, ...tests, '--runInBand'], {
    CONTRACT_RPC_URL: rpcUrl,
    CONTRACT_WS_URL: wsUrl,
    VALIDATOR_RPC_URL: rpcUrl,
    VALIDATOR_WS_URL: wsUrl,
    VALIDATOR_AUTHORITY_KEY: base58.encode(authority.secretKey),
  });
} finally {
  await validator.close();
}

/** @returns its path, or undefined where the build failed, which cargo has explained */
async function build(): Promise<string | undefined> {
  process.stdout.write(`Building it by cargo, with these packages of Debian: ${PACKAGES}\n`);
  const [command, ...args] = BUILD;
  if ((await run(command, args)) === 0) return findValidator();
  process.exit(1);
}

/** @returns the exit code; 1 where a signal ended it */
async function run(
  command: string,
  args: readonly string[],
  settings: NodeJS.ProcessEnv = {},
): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...settings } });
  const end = () => child.kill('SIGTERM');
  // A terminal's Ctrl-C reaches the child as well, and what it started ends before this process.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
  const [code] = (await once(child, 'exit')) as [number | null];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end);
  return code ?? 1;
}
