import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { checkout } from '../../programs/tools/artifacts.ts';

/** The implementation in Python, which takes nothing but `cryptography`. */
export const VERIFIER = join(checkout, 'receipts/python/svc_verify.py');

interface Run {
  readonly code: number;
  readonly output: string;
}

/** Runs the Python file, for a test that wants `python3-cryptography`, over the cases of another. @returns what it printed, and its exit code */
export const runInPython = (path: string): Promise<Run> => verifyInPython(['--vectors', path]);

export function verifyInPython(
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<Run> {
  return new Promise((resolve) => {
    const env = { ...process.env, ...more };
    execFile('python3', [VERIFIER, ...args], { env }, (error, stdout, stderr) => {
      const code = error ? Number(error.code ?? 1) : 0;
      resolve({ code, output: `${stdout}${stderr}` });
    });
  });
}
