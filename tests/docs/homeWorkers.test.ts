import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { findFreePort } from '../../stack/port.ts';
import { needs } from '../../testing/machine/needs.ts';
import { bashOn } from '../../testing/machine/shell.ts';
import { createWorkplace, type StartedStack, type Workplace } from '../stack/startedStack.ts';
import { type Reply, startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';
import { checkout, codeBlocks, readDocuments } from './documents.ts';

const document = readDocuments().find(({ path }) => path === 'docs/home-workers.md');
const [, section = ''] = document?.text.split('\n## Try it on one machine\n') ?? [];
const [text = ''] = section.split('\n## ');
const blocks = codeBlocks({ path: '', text }, ['sh']);

/** `npx` without a registry: what the checkout has under the name. */
const NPX = `npx() { [ "$1 $2" = '--no svc' ] && shift 2 && '${process.execPath}' '${join(checkout, 'cli/svc.mjs')}' "$@"; }`;

const { describe, it } = needs('curl', 'jq');

let place: Workplace;
let upstream: UpstreamServer;
let stack: StartedStack;
let ports: Readonly<Record<string, string>>;
beforeAll(async () => {
  [place, upstream] = await Promise.all([createWorkplace(), startUpstream()]);
  const answer = (reply: Reply): void => {
    reply.text('Hello there.');
    reply.finish('stop');
    reply.usage(5, 3);
    reply.done();
    reply.end();
  };
  upstream.answerWith(answer);
  upstream.answerTrialsWith((reply, model) => {
    if (model !== undefined) answer(reply);
    else reply.refuse(200, { data: [{ id: 'SmolLM2-135M-Instruct.Q4_1' }] });
  });
  ports = { 8090: `${await findFreePort()}`, 11400: new URL(upstream.url).port };
  stack = place.start();
  await stack.running();
});
afterAll(async () => {
  await stack.stop();
  await place.close();
  upstream.close();
});

/** Starts a shell in the reader's folder with the page's commands, at ports that are free here. */
function paste(commands: readonly string[]) {
  const script = commands.join('').replace(/\b(8090|11400)\b/g, (port) => ports[port] ?? port);
  const child = spawn(...bashOn(`${NPX}\n${script}`), {
    cwd: place.folder,
    // By it the workplace knows what to end.
    env: { ...process.env, TMPDIR: join(place.folder, 'tmp') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  return once(child, 'close').then(([code]) => ({ code, output }));
}

describe('the commands of docs/home-workers.md for one machine', () => {
  it('lead from a running stack to the first paid answer of an own worker', async () => {
    const [init = '', fund = '', run = '', earn = '', ...more] = blocks;
    expect(more).toEqual([]);
    expect(await paste([init, fund])).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^Send 0\.\d+ SOL to .* registered, staked, hosting/ms),
    });
    void paste([run]);
    // In the first terminal, which has what was set before.
    const [service = ''] = init.split('\n');
    expect(await paste([`${service}\n`, earn])).toMatchObject({
      code: 0,
      output: expect.stringMatching(
        /^"Hello there\."\nEarned 1\.70 credits with 1 job in 7 days$/m,
      ),
    });
  });
});
