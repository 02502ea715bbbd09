import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from '../../programs/tools/artifacts.ts';

/** The implementation in Python, which takes nothing but `cryptography`. */
export const VERIFIER = join(checkout, 'receipts/python/svc_verify.py');

/** Whether this machine can run it; tests say so where it cannot. */
export const PYTHON = findPython();

function findPython(): { isReady: true } | { isReady: false; reason: string } {
  if (!existsSync(VERIFIER)) return { isReady: false, reason: `there is no ${VERIFIER}` };
  const { status, stderr, error } = spawnSync('python3', ['-c', 'import cryptography'], {
    encoding: 'utf8',
  });
  if (status === 0) return { isReady: true };
  return { isReady: false, reason: error?.message ?? stderr.trim().split('\n').at(-1) ?? '' };
}

interface Run {
  readonly code: number;
  readonly output: string;
}

/** Runs the Python file over the cases of another. @returns what it printed, and its exit code */
export const runInPython = (path: string): Promise<Run> => verifyInPython(['--vectors', path]);

export function verifyInPython(args: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile('python3', [VERIFIER, ...args], (error, stdout, stderr) => {
      const code = error ? Number(error.code ?? 1) : 0;
      resolve({ code, output: `${stdout}${stderr}` });
    });
  });
}
