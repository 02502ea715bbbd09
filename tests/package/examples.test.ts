import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { PRINTED, withoutId } from './printedExamples.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

describe('the examples', () => {
  it.each(Object.keys(PRINTED))('%s runs as a process and prints its result', async (file) => {
    const options = { cwd: checkout, timeout: 100_000 };
    const { stdout } = await run(process.execPath, [`examples/${file}`], options);
    expect(withoutId(stdout)).toBe(PRINTED[file]);
  });
});
