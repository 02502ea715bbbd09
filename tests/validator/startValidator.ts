import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PublicKey } from '@solana/web3.js';
import { delay } from '../../common/wait.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { findFreePort } from '../../stack/port.ts';
import { callLedger } from '../../testing/ledger/ledger.ts';

/** A running validator. */
export interface Validator {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** As it says itself. */
  readonly version: string;
  close(): Promise<void>;
}

const PROGRAM = fileURLToPath(
  new URL('../../programs/escrow/artifacts/escrow-v3.so', import.meta.url),
);
/** For its own traffic, of which there is none. */
const OTHER_PORTS = 60;
/** By default it forgets its history after a few minutes. */
const SHREDS_KEPT = 1_000_000;
const START_MS = 120_000;
const POLL_MS = 200;
const ATTEMPTS = 3;

/**
 * Starts a new ledger with the escrow program on it.
 *
 * @param authority may upgrade the program, and has all lamports
 * @throws Error with the end of its log when it does not start
 */
export async function startValidator(binary: string, authority: PublicKey): Promise<Validator> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryStart(binary, authority);
    } catch (error) {
      // Another process may have taken one of the ports.
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

async function tryStart(binary: string, authority: PublicKey): Promise<Validator> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-validator-'));
  const [rpcPort, faucetPort, otherPort] = await Promise.all([
    findFreePort(),
    findFreePort(),
    findFreePort(),
  ]);
  const child = spawn(
    binary,
    [
      ...['--ledger', folder, '--reset', '--quiet', '--bind-address', '127.0.0.1'],
      ...['--rpc-port', `${rpcPort}`, '--faucet-port', `${faucetPort}`],
      ...['--gossip-port', `${otherPort}`],
      ...['--dynamic-port-range', `${otherPort + 1}-${otherPort + OTHER_PORTS}`],
      ...['--limit-ledger-size', `${SHREDS_KEPT}`],
      ...['--mint', authority.toBase58()],
      ...['--upgradeable-program', PROGRAM_ID.toBase58(), PROGRAM, authority.toBase58()],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  const ended = once(child, 'close').catch((error: Error) => (said += error.message));
  const isRunning = () => child.pid !== undefined && child.exitCode === null && !child.signalCode;
  const close = async (): Promise<void> => {
    if (isRunning()) child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const rpcUrl = `http://127.0.0.1:${rpcPort}`;
  const untilMs = performance.now() + START_MS;
  while (isRunning() && performance.now() < untilMs) {
    await delay(POLL_MS);
    if (!(await isHealthy(rpcUrl))) continue;
    const { 'solana-core': version } = await callLedger<{ 'solana-core': string }>(
      rpcUrl,
      'getVersion',
      [],
    );
    const wsUrl = `ws://127.0.0.1:${rpcPort + 1}`;
    return { rpcUrl, wsUrl, version: `solana-test-validator ${version}`, close };
  }
  const log = endOfLog(join(folder, 'validator.log'));
  await close();
  throw new Error(`${binary} did not start:\n${said}${log}`);
}

async function isHealthy(rpcUrl: string): Promise<boolean> {
  try {
    return (await callLedger(rpcUrl, 'getHealth', [])) === 'ok';
  } catch {
    // It does not listen yet, or says itself that it is not ready.
    return false;
  }
}

const LINES_SHOWN = 20;

function endOfLog(path: string): string {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-LINES_SHOWN).join('\n');
  } catch {
    return '';
  }
}
