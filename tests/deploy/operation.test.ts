import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { needs } from '../../testing/machine/needs.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const PROMETHEUS = join(DEPLOY, 'prometheus');

describe('the Prometheus rules', () => {
  const rules = readFileSync(join(PROMETHEUS, 'rules.yml'), 'utf8');
  const trials = readFileSync(join(PROMETHEUS, 'rulesTest.yml'), 'utf8');
  const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name);

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
