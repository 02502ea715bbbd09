import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from '@jest/globals';

it('the committed IDL equals what the Rust source generates', () => {
  const script = join(import.meta.dirname, '../../programs/tools/idl.ts');
  execFileSync(process.execPath, [script, '--check'], { stdio: 'pipe' });
});
