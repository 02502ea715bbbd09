import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { startBuild } from '../../stack/console/builds.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-builds-'));
afterAll(() => rmSync(folder, { recursive: true }));

function script(text: string): string {
  const path = join(folder, 'build.mjs');
  writeFileSync(path, text);
  return path;
}

describe('a build of what the API serves', () => {
  it('ends at once with the compiler that it runs', async () => {
    const begun = join(folder, 'begun');
    const compiler = `touch ${begun}; exec sleep 60`;
    const build = startBuild(
      script(`import { spawnSync } from 'node:child_process';
        spawnSync('sh', ['-c', '${compiler}'], { stdio: ['ignore', 'pipe', 'inherit'] });`),
    );
    while (!existsSync(begun)) await delay(20);
    // It holds the pipe of the build's errors until it ends itself.
    await build.stop();
    expect(await build.fault).toContain('ended');
  });

  it('says what went wrong, and nothing where all is there', async () => {
    const failed = startBuild(script(`process.stderr.write('no compiler'); process.exitCode = 1;`));
    expect(await failed.fault).toBe('no compiler');
    const done = startBuild(script(''), 10);
    expect(await done.fault).toBeUndefined();
    await done.stop();
  });
});
