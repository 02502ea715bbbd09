import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCli } from '../../testing/cli.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { PYTHON, verifyInPython } from './runInPython.ts';
import { SAVING_CLIENTS, type Saved } from './savingClients.ts';

if (!PYTHON.isReady) {
  process.stderr.write(`The Python file was not run over saved answers: ${PYTHON.reason}\n`);
}

let service: RunningService;
const folder = ownFolder('svc-saved');
const saved = new Map<string, Saved>();

beforeAll(async () => {
  service = await startRunningService();
  for (const [name, ask] of Object.entries(SAVING_CLIENTS)) {
    const { baseUrl, apiKey, model } = service;
    saved.set(name, await ask({ baseUrl, apiKey, folder, model: model.id }));
  }
  await service.untilMirrored();
}, 60_000);
afterAll(() => service?.close());

/** The options by which both commands take them. */
async function filesOf(name: string) {
  const { answer, request } = saved.get(name) as Saved;
  const paths = { answer: join(folder, 'saved.txt'), request: join(folder, 'sent.json') };
  await writeFile(paths.answer, answer);
  await writeFile(paths.request, request);
  return [
    ...['--rpc', service.ledger.rpcUrl],
    ...['--response', paths.answer, '--request', paths.request],
  ];
}

/** Both implementations, where this machine has a Python. */
const VERIFIERS = {
  'svc verify': (options: string[]) => runCli(['verify', ...options]),
  ...(PYTHON.isReady && { 'svc_verify.py': (options: string[]) => verifyInPython(options) }),
};

describe.each(Object.entries(VERIFIERS))('%s', (_name, verify) => {
  it.each(Object.keys(SAVING_CLIENTS))('holds for question and answer of %s', async (name) => {
    const options = await filesOf(name);
    const { code, output } = await verify([...options, '--json']);
    const { result, checks } = JSON.parse(output);
    expect({ code, result }).toEqual({ code: 0, result: 'holds' });
    for (const rule of ['output', 'receipt', 'request']) {
      const held = expect.objectContaining({ name: `delivery.${rule}`, verdict: 'holds' });
      expect(checks).toContainEqual(held);
    }
  });
});
