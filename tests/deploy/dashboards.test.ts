import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { findFreePort } from '../../stack/port.ts';
import { PROJECT_FOLDER, startProcess } from '../../testing/childProcess.ts';
import { needs } from '../../testing/machine/needs.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { readDocuments } from '../docs/documents.ts';

interface Panel {
  id: number;
  type: string;
  title: string;
  datasource?: { uid: string };
  targets?: { expr: string; datasource: { uid: string } }[];
}

const dashboard = JSON.parse(
  readFileSync(join(PROJECT_FOLDER, 'deploy/grafana/service.json'), 'utf8'),
) as { panels: Panel[]; templating: { list: { name: string; type: string }[] } };
const targets = dashboard.panels.flatMap((panel) => panel.targets ?? []);
/** Only with HELIUS_API_KEY, which would ask its service. */
const ELSEWHERE = ['svc_helius_histories_total'];

/** The metrics that a text names; a histogram has several series. */
const metricsIn = (text: string): Set<string> =>
  new Set(
    [...text.matchAll(/\bsvc_\w+/g)].map(([name]) =>
      served.includes(name) ? name : name.replace(/_(bucket|count|sum)$/, ''),
    ),
  );

let service: RunningService;
/** What the processes serve, by its `# TYPE` line. */
let served: string[];
const known = () => [...served, ...ELSEWHERE];

beforeAll(async () => {
  service = await startRunningService({ apiSettings: { METRICS_PORT: '0' } });
  const metricsPort = String(await findFreePort());
  const worker = await startProcess('worker/main.ts', {
    WORKER_PORT: '0',
    WORKER_METRICS_PORT: metricsPort,
    WORKER_AUTHORITY: Keypair.generate().publicKey.toBase58(),
    WORKER_PROOF_KEY: base58.encode(Keypair.generate().secretKey),
    WORKER_ENGINE: 'builtin',
    WORKER_GATEWAYS: 'any',
    SOLANA_RPC_URL: service.ledger.rpcUrl,
    LOG_LEVEL: 'fatal',
  });
  const urls = [
    String(service.metricsUrl),
    `${service.indexer.url}/metrics`,
    `http://127.0.0.1:${metricsPort}/metrics`,
  ];
  const texts = await Promise.all(urls.map(async (url) => (await fetch(url)).text()));
  served = texts.flatMap((text) =>
    [...text.matchAll(/^# TYPE (svc_\w+)/gm)].map(([, name]) => name ?? ''),
  );
  await worker.terminate();
});

afterAll(() => service?.close());

describe('the Grafana dashboard', () => {
  it('takes its source of data from a variable', () => {
    expect(dashboard.templating.list).toMatchObject([{ name: 'datasource', type: 'datasource' }]);
    const sources = [
      ...dashboard.panels.flatMap((panel) => panel.datasource ?? []),
      ...targets.map(({ datasource }) => datasource),
    ];
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's variable
    expect(new Set(sources.map(({ uid }) => uid))).toEqual(new Set(['${datasource}']));
  });

  it('has a title and an id of its own for each panel', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(dashboard.panels.filter(({ title }) => !title)).toEqual([]);
  });

  it('shows every metric that the processes serve, and no other', () => {
    expect(served.length).toBeGreaterThan(30);
    const shown = metricsIn(targets.map(({ expr }) => expr).join('\n'));
    expect([...shown].sort()).toEqual([...new Set(known())].sort());
  });

  needs('promtool').it('has expressions that Prometheus accepts', () => {
    const folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
    const rules = targets.map(({ expr }, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const path = join(folder, 'rules.json');
    // JSON is YAML too.
    writeFileSync(path, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    const { stdout, stderr } = spawnSync('promtool', ['check', 'rules', path], {
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    expect(`${stdout}${stderr}`).toContain(`SUCCESS: ${rules.length} rules found`);
  });
});

describe('the metrics that the processes serve', () => {
  it('are those that the documents name', () => {
    const named = metricsIn(
      readDocuments()
        .map(({ text }) => text)
        .join('\n'),
    );
    for (const name of known()) expect(named).toContain(name);
    const ofProcess = /^svc_(api|indexer|webhook|keeper|abuse|helius)_[a-z]/;
    const unknown = [...named].filter((name) => ofProcess.test(name) && !known().includes(name));
    expect(unknown).toEqual([]);
  });

  it('are all that the Prometheus rules name', () => {
    const named = metricsIn(
      readFileSync(join(PROJECT_FOLDER, 'deploy/prometheus/rules.yml'), 'utf8'),
    );
    expect(named.size).toBeGreaterThan(20);
    expect([...named].filter((name) => !known().includes(name))).toEqual([]);
  });
});
