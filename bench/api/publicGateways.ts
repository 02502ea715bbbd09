import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Shutdown } from '../../common/shutdown.ts';
import { findFreePort } from '../../stack/port.ts';
import { until } from '../../testing/until.ts';
import type { Target } from '../load.ts';
import type { MeteredTarget } from './service.ts';

// Gateways that others publish, each installed into a folder of its own and started before the same
// upstream as the service. None can be asked for more than a registry has.

interface Recipe {
  readonly name: string;
  readonly install: readonly (readonly string[])[];
  readonly start: (port: number) => readonly string[];
  readonly headers: (upstream: Target) => Record<string, string>;
  readonly config?: (upstream: Target) => string;
}

const RECIPES: readonly Recipe[] = [
  {
    name: 'Portkey 1.15.2',
    install: [
      ['npm', 'install', '--prefix', '.', '--ignore-scripts', '@portkey-ai/gateway@1.15.2'],
    ],
    start: (port) => [
      ...['node', 'node_modules/@portkey-ai/gateway/build/start-server.js'],
      ...[`--port=${port}`, '--headless'],
    ],
    headers: ({ url }) => ({ 'x-portkey-provider': 'openai', 'x-portkey-custom-host': url }),
  },
  {
    name: 'LiteLLM 1.108.7',
    install: [
      ['python3', '-m', 'venv', '.'],
      ['bin/pip', 'install', '--quiet', 'litellm[proxy]==1.108.7'],
    ],
    start: (port) => ['bin/litellm', '--config', 'config.yaml', '--port', `${port}`],
    headers: () => ({}),
    config: ({ url, model }) =>
      JSON.stringify({
        model_list: [
          {
            model_name: model,
            litellm_params: {
              ...{ model: `openai/${model}`, api_base: url, api_key: 'none' },
              ...{ input_cost_per_token: 1e-7, output_cost_per_token: 1e-7 },
            },
          },
        ],
      }),
  },
];

/** Installs and starts each. @returns by its name and version, those that the registries have */
export async function startPublicGateways(
  shutdown: Shutdown,
  upstream: Target,
): Promise<Map<string, MeteredTarget>> {
  const gateways = new Map<string, MeteredTarget>();
  for (const recipe of RECIPES) {
    const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
    shutdown.add('folder', () => rm(folder, { recursive: true }));
    try {
      for (const [command = '', ...options] of recipe.install) {
        execFileSync(command, options, { cwd: folder, stdio: 'pipe' });
      }
    } catch (error) {
      console.log(`${recipe.name} cannot be installed here: ${(error as Error).message}`);
      continue;
    }
    const started = await start(recipe, { folder, shutdown, upstream });
    if (started) gateways.set(recipe.name, started);
    else console.log(`${recipe.name} does not start here.`);
  }
  return gateways;
}

async function start(
  { start, headers, config }: Recipe,
  { folder, shutdown, upstream }: { folder: string; shutdown: Shutdown; upstream: Target },
): Promise<MeteredTarget | undefined> {
  if (config) await writeFile(join(folder, 'config.yaml'), config(upstream));
  const port = await findFreePort();
  const [command = '', ...options] = start(port);
  const child = spawn(command, options, { cwd: folder, stdio: 'ignore' });
  const ended = once(child, 'close');
  shutdown.add('gateway', async () => {
    child.kill();
    await ended;
  });
  const target = { ...upstream, url: `http://127.0.0.1:${port}/v1`, headers: headers(upstream) };
  const answers = () =>
    fetch(`${target.url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...target.headers },
      body: JSON.stringify({ model: target.model, messages: [{ role: 'user', content: 'Hello' }] }),
    }).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(async () => child.exitCode !== null || (await answers()));
  return child.exitCode === null ? { ...target, pid: child.pid as number } : undefined;
}
