import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCli } from '../../testing/cli.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { PYTHON, verifyInPython } from './runInPython.ts';
import { SAVING_CLIENTS, type Saved } from './savingClients.ts';

if (!PYTHON.isReady) {
  process.stderr.write(`The Python file was not run over saved answers: ${PYTHON.reason}\n`);
}

let service: RunningService;
let folder: string;
const saved = new Map<string, Saved>();

beforeAll(async () => {
  service = await startRunningService();
  folder = await mkdtemp(join(tmpdir(), 'svc-saved-'));
  for (const [name, ask] of Object.entries(SAVING_CLIENTS)) {
    const { baseUrl, apiKey, model } = service;
    saved.set(name, await ask({ baseUrl, apiKey, folder, model: model.id }));
  }
  await service.untilMirrored();
}, 60_000);
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true });
});

/** The options by which both commands take them. */
async function filesOf(name: string, change: (saved: Saved) => Saved = (same) => same) {
  const { answer, request } = change(saved.get(name) as Saved);
  const paths = { answer: join(folder, 'saved.txt'), request: join(folder, 'sent.json') };
  await writeFile(paths.answer, answer);
  await writeFile(paths.request, request);
  return [
    ...['--rpc', service.ledger.rpcUrl],
    ...['--response', paths.answer, '--request', paths.request],
  ];
}

const NAMES = Object.keys(SAVING_CLIENTS);

/** Both implementations, where this machine has a Python. */
const VERIFIERS = {
  'svc verify': (options: string[]) => runCli(['verify', ...options]),
  ...(PYTHON.isReady && { 'svc_verify.py': (options: string[]) => verifyInPython(options) }),
};

describe.each(Object.entries(VERIFIERS))('%s', (_name, verify) => {
  it.each(NAMES)('holds for question and answer of %s', async (name) => {
    const options = await filesOf(name);
    const { code, output } = await verify([...options, '--json']);
    const { result, checks } = JSON.parse(output);
    expect({ code, result }).toEqual({ code: 0, result: 'holds' });
    const held = new Set(
      checks
        .filter(({ verdict }: { verdict: string }) => verdict === 'holds')
        .map(({ name }: { name: string }) => name),
    );
    for (const check of ['output', 'receipt', 'request'])
      expect(held).toContain(`delivery.${check}`);
  });

  it.each(NAMES)('does not hold for another question of %s', async (name) => {
    const options = await filesOf(name, ({ answer, request }) => ({
      answer,
      request: request.replace('rivers', 'lakes'),
    }));
    const { code, output } = await verify(options);
    expect(code).toBe(1);
    expect(output).toContain('delivery.request');
  });
});
