import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { runCli } from '../../testing/cli.ts';
import { needs } from '../../testing/machine/needs.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { verifyInPython } from './runInPython.ts';
import { SAVING_CLIENTS, type Saved } from './savingClients.ts';

const byCurl = needs('curl');
/** Both implementations. */
const VERIFIERS = {
  'svc verify': {
    verify: (options: string[]) => runCli(['verify', ...options]),
    wanted: needs(),
  },
  'svc_verify.py': { verify: verifyInPython, wanted: needs('python3-cryptography') },
};
const isCurl = (name: string): boolean => name.startsWith('curl');

let service: RunningService;
const folder = ownFolder('svc-saved');
const saved = new Map<string, Saved>();

beforeAll(async () => {
  service = await startRunningService();
  for (const [name, ask] of Object.entries(SAVING_CLIENTS)) {
    if (isCurl(name) && !byCurl.isMet) continue;
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

describe.each(Object.entries(VERIFIERS))('%s', (_name, { verify, wanted }) => {
  const names = Object.keys(SAVING_CLIENTS);
  const title = 'holds for question and answer of %s';
  wanted.it.each(names.filter((name) => !isCurl(name)))(title, holds);
  (wanted.isMet ? byCurl : wanted).it.each(names.filter(isCurl))(title, holds);

  async function holds(name: string): Promise<void> {
    const options = await filesOf(name);
    const { code, output } = await verify([...options, '--json']);
    const { result, checks } = JSON.parse(output);
    expect({ code, result }).toEqual({ code: 0, result: 'holds' });
    for (const rule of ['output', 'receipt', 'request']) {
      const held = expect.objectContaining({ name: `delivery.${rule}`, verdict: 'holds' });
      expect(checks).toContainEqual(held);
    }
  }
});
