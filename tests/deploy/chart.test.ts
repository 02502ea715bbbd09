import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { SETTINGS } from '../../stack/parts.ts';
import { PROJECT_FOLDER } from '../../testing/childProcess.ts';
import { needs } from '../../testing/machine/needs.ts';

const CHART = join(PROJECT_FOLDER, 'deploy/helm');
const VALUES = [
  'settings.SOLANA_RPC_URL=https://rpc.example.com',
  'settings.SOLANA_WS_URL=wss://rpc.example.com',
  'settings.SVC_PROGRAM_ID=8XLFurbAHp1Zg8Tyg23WoYhyy3XaYf6N17EAv4mKc2ok',
  'api.settings.PUBLIC_URL=https://api.example.com',
  'indexer.secretSettings={HELIUS_API_KEY}',
  'worker.enabled=true',
  'worker.settings.WORKER_UPSTREAM_URL=http://vllm:8000/v1',
  'ingress.apiHost=api.example.com',
  'ingress.workerHost=worker.example.com',
  'ingress.tlsSecret=tls',
];
const SECRET = /(KEYS?|PASSWORD|DATABASE_URL)$/;

interface Container {
  args: [string, ...string[]];
  env: { name: string; value: string }[];
  securityContext: unknown;
  readinessProbe?: unknown;
}

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: {
    replicas?: number;
    template: {
      spec: {
        securityContext: { runAsNonRoot: boolean; runAsUser: number };
        automountServiceAccountToken: boolean;
        volumes: { secret?: { secretName: string; items: { key: string; path: string }[] } }[];
        containers: [Container];
      };
    };
  };
}

const helm = (...args: string[]) =>
  spawnSync('helm', [...args, ...VALUES.flatMap((value) => ['--set', value])], {
    encoding: 'utf8',
  });
const { describe, isMet } = needs('helm');

/** What the chart makes of values as an operator would give them. */
function render(): Manifest[] {
  const { status, stdout, stderr } = helm('template', 'svc', CHART);
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

const manifests = isMet ? render() : [];
/** How often the chart runs each; undefined: once, to its end. */
const WORKLOADS = { 'svc-api': 2, 'svc-indexer': 2, 'svc-migrate': undefined, 'svc-worker': 1 };

describe('the Helm chart', () => {
  it('passes its linter', () => {
    const { status, stdout } = helm('lint', '--strict', CHART);
    expect([status, stdout]).toEqual([0, expect.stringContaining('0 chart(s) failed')]);
  });

  it('has two APIs, an indexer with a standby, a worker, and migrations', () => {
    const workloads = manifests.filter(({ kind }) => ['Deployment', 'Job'].includes(kind));
    expect(
      Object.fromEntries(workloads.map(({ metadata, spec }) => [metadata.name, spec.replicas])),
    ).toEqual(WORKLOADS);
  });

  it('lets clients and workers in by a host each', () => {
    const names = manifests.filter(({ kind }) => kind === 'Ingress').map((one) => one.metadata);
    expect(names.map(({ name }) => name).sort()).toEqual(['svc-api', 'svc-worker']);
  });
});

describe.each(Object.keys(WORKLOADS))('the pods of %s', (name) => {
  const pod = () => {
    const workload = manifests.find(
      ({ kind, metadata }) => metadata.name === name && ['Deployment', 'Job'].includes(kind),
    );
    return (workload as Manifest).spec.template.spec;
  };

  it('are not root, cannot write, and have no rights or cluster account', () => {
    const { securityContext, automountServiceAccountToken, containers } = pod();
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10_001 });
    expect(automountServiceAccountToken).toBe(false);
    expect(containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('get secrets as files alone, and no more of the Secret than they read', () => {
    const { volumes, containers } = pod();
    const { env } = containers[0];
    expect(env.filter((one) => SECRET.test(one.name))).toEqual([]);
    const [secret] = volumes.flatMap((volume) => volume.secret ?? []);
    expect(secret?.secretName).toBe(name === 'svc-worker' ? 'svc-worker' : 'svc');
    const files = env.filter((one) => one.name.endsWith('_FILE'));
    expect(files.map(({ value }) => value)).toEqual(
      secret?.items.map(({ path }) => `/run/secrets/${path}`),
    );
    const user = name === 'svc-api' ? 'API' : 'INDEXER';
    for (const { key, path } of secret?.items ?? []) {
      expect(key).toBe(path === 'DATABASE_URL' ? `DATABASE_URL_${user}` : path);
    }
  });

  it('have known settings, each once, and a probe where they go on', () => {
    const [{ args, env, readinessProbe }] = pod().containers;
    const [, part] = /^(api|indexer|worker)\/main\.ts$/.exec(args[0]) ?? [];
    expect(readinessProbe === undefined).toBe(part === undefined);
    const names = env.map((one) => one.name.replace(/_FILE$/, ''));
    expect(new Set(names).size).toBe(names.length);
    if (part === undefined) return;
    const known = Object.keys(SETTINGS[part as keyof typeof SETTINGS].shape);
    expect(names.filter((one) => !known.includes(one))).toEqual([]);
  });
});
