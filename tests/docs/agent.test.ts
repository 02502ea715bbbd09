import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { BASE_UNITS_PER_CREDIT } from '../../programs/client/generated/constants.ts';
import { mintTo, submit } from '../../stack/operator.ts';
import { MACHINE_ENVIRONMENT } from '../../testing/childProcess.ts';
import { needs } from '../../testing/machine/needs.ts';
import { runScript } from '../../testing/machine/shell.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { checkout, codeBlocks } from './documents.ts';

/** What a reader installs: `svc` is what the checkout has under the name, as no package is built here. */
const INSTALLED = `set -e
curl() { case "$2" in */packages/cli) ;; *) command curl "$@" ;; esac; }
npm() { [ "$1" = install ]; }
npx() { [ "$1 $2" = '--no svc' ] && shift 2 && '${process.execPath}' '${join(checkout, 'cli/svc.mjs')}' "$@"; }`;
const CREDITS = 100n;

let service: RunningService;
let folder: string;
beforeAll(async () => {
  service = await startRunningService({
    apiSettings: async ({ SOLANA_RPC_URL }) => ({ SVC_CONSOLE_RPC_URL: SOLANA_RPC_URL }),
  });
  folder = mkdtempSync(join(tmpdir(), 'svc-agent-'));
});
afterAll(async () => {
  await service?.close();
  if (folder) rmSync(folder, { recursive: true });
});

/** Runs a block of the text as it is printed, in the shell that ran those before. */
async function run(block = ''): Promise<string> {
  const script = [INSTALLED, '[ -f state ] && . ./state', block, 'export -p > state'].join('\n');
  return runScript(script, { cwd: folder, env: MACHINE_ENVIRONMENT });
}

const python = needs('python3-cryptography');
const { describe, it } = needs('curl', 'jq');

describe('an agent that has /llms.txt alone', () => {
  it('gets key, call and verification right, by its blocks as printed', async () => {
    const text = await (await fetch(`${service.baseUrl}/llms.txt`)).text();
    const [install, buy, call, verify, verifyInPython, ...others] = codeBlocks({ path: '', text }, [
      'sh',
    ]);
    expect(others).toEqual([]);

    const owner = new PublicKey((await run(install)).trim());
    await service.ledger.fundLamports(owner, LAMPORTS_PER_SOL / 100);
    const stablecoin = { mint: service.mints.credit, baseUnits: CREDITS * BASE_UNITS_PER_CREDIT };
    await submit(service.operator, mintTo(service.operator, { owner, ...stablecoin }).instructions);
    await run(buy);
    await service.untilMirrored();

    const shown = await run(call);
    const answer = JSON.parse(readFileSync(join(folder, 'answer.json'), 'utf8'));
    expect(answer).toHaveProperty('choices');
    const { content } = answer.choices[0].message;
    expect(shown).toBe(
      `${[content, answer.svc.credits_charged, answer.svc.verify_url].join('\n')}\n`,
    );
    expect(answer.svc).toMatchObject({
      ...{ credits_charged: 8, verify_url: expect.stringContaining(`#wallet=${owner.toBase58()}`) },
    });
    expect(await run(verify)).toContain('Everything that applies holds.');
    // Where it cannot run, the tests of the file itself say so.
    if (python.isMet) expect(await run(verifyInPython)).toContain('Everything that applies holds.');
  });
});
