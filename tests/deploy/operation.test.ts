import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { needs } from '../../testing/machine/needs.ts';
import { listFiles, readSource } from '../tidy/sourceTree.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const PROMETHEUS = join(DEPLOY, 'prometheus');
const SYSTEMD = join(DEPLOY, 'systemd');
/** `systemd-analyze security` calls up to 10 unsafe; ours may be no worse than this. */
const EXPOSURE_MAX = 3;

describe('the Prometheus rules', () => {
  const rules = readFileSync(join(PROMETHEUS, 'rules.yml'), 'utf8');
  const trials = readFileSync(join(PROMETHEUS, 'rulesTest.yml'), 'utf8');
  const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name);

  it('name only metrics that a process has', () => {
    const sources = listFiles().filter((path) =>
      /^(api|indexer|worker|common)\/.*\.ts$/.test(path),
    );
    const source = sources.map(readSource).join('\n');
    const metrics = [...rules.matchAll(/\bsvc_\w+/g)].map(([name]) =>
      name.replace(/_(bucket|count|sum)$/, ''),
    );
    expect(metrics.length).toBeGreaterThan(20);
    expect(metrics.filter((name) => !source.includes(`'${name}'`))).toEqual([]);
  });

  it('have one for each metric that the operating guide says to watch', () => {
    const guide = readFileSync(join(DEPLOY, '../docs/operating.md'), 'utf8');
    const [, table = ''] = guide.split('Watch these first:');
    const [watched = ''] = table.split('These are for dashboards');
    const names = [...watched.matchAll(/`(svc_\w+)/g)].map(([, name = '']) => name);
    expect(new Set(names).size).toBeGreaterThan(20);
    expect(names.filter((name) => !rules.includes(name))).toEqual([]);
  });

  it.each(alerts)('have a trial in which %s fires and one in which it does not', (alert) => {
    expect(trials).toContain(`- name: ${alert} fires`);
    expect(trials).toContain(`- name: ${alert} stays quiet`);
  });

  needs('promtool').it('pass their trials', () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'rulesTest.yml'], {
      cwd: PROMETHEUS,
      encoding: 'utf8',
    });
    expect(`${stdout}${stderr}`).toMatch(/SUCCESS/);
    expect(status).toBe(0);
  });
});

describe('the systemd units', () => {
  const units = readdirSync(SYSTEMD).filter((name) => name.endsWith('.service'));

  it('are those of API, indexer and worker', () => {
    expect(units).toEqual(['svc-api@.service', 'svc-indexer@.service', 'svc-worker.service']);
  });

  needs('systemd-analyze').it.each(units)('%s is at most slightly exposed', (unit) => {
    const args = ['security', '--offline=true', join(SYSTEMD, unit)];
    const { stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
    expect(exposure).toBeLessThanOrEqual(EXPOSURE_MAX);
  });
});
