import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { STACK_FOLDER, type StackDescription, writeStackFile } from '../../../stack/stackFile.ts';
import { runCli } from '../../../testing/cli.ts';
import { bought } from '../../../testing/indexer/creditEvents.ts';
import { SECRETS_KEY } from '../../../testing/indexer/indexerProcess.ts';
import { ownReceiver, ownWebhookScene } from '../../../testing/indexer/own.ts';
import { refuse } from '../../../testing/indexer/receiver.ts';
import { WALLET } from '../../../testing/indexer/webhookScene.ts';
import { ownFolder } from '../../../testing/ownFolder.ts';

const scene = await ownWebhookScene({ isKept: true });
const receiver = await ownReceiver();
const id = await scene.addWebhook({ url: receiver.url });
const cwd = ownFolder('svc-beside-stack');

/** Runs `svc webhooks` as an operator does. */
const svc = (args: string[], settings: Record<string, string> = {}) =>
  runCli(['webhooks', ...args], { env: { DATABASE_URL: scene.databaseUrl, ...settings } });

describe('svc webhooks', () => {
  it('lists webhooks, deliveries, and their state after a replay', async () => {
    await svc(['disable', id]);
    await scene.announce([bought({ credits: 5, available: 105 })]);
    const listed = await svc(['list', '--wallet', WALLET]);
    expect(listed.output).toMatch(
      new RegExp(`${id} │ disabled │ 0 .*│ 0 .*│ 1 .*│ ${receiver.url}`),
    );
    const refused = await svc(['replay', id]);
    expect(refused).toMatchObject({ code: 1, output: '' });
    expect(refused.error).toBe(`The webhook ${id} is disabled: enable it first.\n`);

    expect((await svc(['enable', id])).error).toBe(`The webhook ${id} is active.\n`);
    expect((await svc(['replay', id])).error).toBe('1 event is sent again.\n');
    await scene.attemptDue();
    expect(receiver.received).toHaveLength(1);
    const deliveries = await svc(['deliveries', id, '--status', 'delivered']);
    expect(deliveries.output).toMatch(/│ credit\.topup .*│ 2026-.*Z │ delivered │ 1 .*│ 200 /);
    expect((await svc(['deliveries', id, '--until', '2020-01-01'])).output).not.toContain('evt_');
  });

  it('sends a test event through the indexer and prints the result', async () => {
    const { stop } = await scene.start();
    const delivered = await svc(['test', id]);
    expect(delivered).toMatchObject({ code: 0, output: 'thank you\n' });
    expect(delivered.error).toMatch(/^The test event was delivered: 200 after \d+ ms\.\n$/);
    receiver.answer = refuse;
    const failed = await svc(['test', id]);
    expect(failed).toMatchObject({ code: 1, output: 'not now\n' });
    expect(failed.error).toMatch(/^The test event failed: bad_status, 500 after \d+ ms\.\n$/);
    await stop();
  });

  it("prints a new secret once, with the service's or the stack's sealing key", async () => {
    const rotated = await svc(['rotate', id], { SVC_SECRETS_KEY: SECRETS_KEY });
    expect(rotated).toMatchObject({ output: expect.stringMatching(/^whsec_\S+\n$/), code: 0 });
    const other = Buffer.alloc(32, 9).toString('base64');
    const refused = await svc(['rotate', id], { SVC_SECRETS_KEY: other });
    expect(refused).toMatchObject({ code: 1, output: '' });
    expect(refused.error).toMatch(/^SVC_SECRETS_KEY is not the service's/);
    expect((await svc(['rotate', id])).error).toMatch(/^Set SVC_SECRETS_KEY/);

    const stack = { databaseUrl: scene.databaseUrl, secretsKey: SECRETS_KEY } as StackDescription;
    await writeStackFile(join(cwd, STACK_FOLDER), stack);
    expect(await runCli(['webhooks', 'rotate', id], { cwd })).toMatchObject({ code: 0 });
  });

  it('reseals all secrets, and fails with the names of those it cannot open', async () => {
    const old = { SVC_SECRETS_KEY_PREVIOUS: SECRETS_KEY };
    const keys = { ...old, SVC_SECRETS_KEY: Buffer.alloc(32, 9).toString('base64') };
    const { rows } = await scene.pool.query(
      'select count(secret) + count(previous_secret) as secrets from service.webhooks',
    );
    const [{ secrets }] = rows;
    expect(await svc(['reseal'], keys)).toEqual({
      ...{ code: 0, output: '' },
      error: `Resealed secrets: ${secrets}. Under SVC_SECRETS_KEY already: 0.\n`,
    });
    const lost = await scene.addWebhook({ url: 'http://127.0.0.1:9/lost' });
    await scene.pool.query(`update service.webhooks set secret = '' where id = $1`, [lost]);
    expect(await svc(['reseal'], { ...keys, SVC_SECRETS_KEY_PREVIOUS: '' })).toEqual({
      ...{ code: 1, output: '' },
      error:
        'Resealed secrets: 0. Under SVC_SECRETS_KEY already: 2.\n' +
        'Neither SVC_SECRETS_KEY nor SVC_SECRETS_KEY_PREVIOUS opens a secret of these:\n' +
        `${lost}\n`,
    });
    const [same, weak] = [keys.SVC_SECRETS_KEY, 'a passphrase that is easy to remember!!'];
    for (const previous of [same, weak]) {
      const { error } = await svc(['reseal'], { ...keys, SVC_SECRETS_KEY_PREVIOUS: previous });
      expect(error).toMatch(/^Set SVC_SECRETS_KEY, .*\. SVC_SECRETS_KEY_PREVIOUS: /);
      expect(error).not.toContain(previous);
    }
  });

  it('changes url and events, checked as at a creation', async () => {
    const own = await scene.addWebhook({ url: `${receiver.url}/edited`, status: 'failed' });
    const edit = (args: string[], settings = {}) => svc(['edit', own, ...args], settings);
    const local = { SVC_ALLOW_LOOPBACK: 'true' };
    const refusals = [
      [await edit(['--url', receiver.url]), 'The url must lead to a public address.\n'],
      [
        await edit(['--url', receiver.url], local),
        'A webhook with this url and these events exists.\n',
      ],
      [await edit([]), 'Give --url, --events or both.\n'],
    ] as const;
    for (const [{ code, error }, message] of refusals) expect([code, error]).toEqual([1, message]);

    const changed = await edit(
      ['--url', `${receiver.url}#part`, '--events', 'job.failed', 'credit.low', 'job.failed'],
      local,
    );

    const error = `The webhook ${own} is changed, and active.\n`;
    expect(changed).toMatchObject({ code: 0, error });
    const { rows } = await scene.pool.query(
      'select url, events, status from service.webhooks where id = $1',
      [own],
    );
    expect(rows).toEqual([
      { url: receiver.url, events: ['credit.low', 'job.failed'], status: 'active' },
    ]);
  });

  it.each(['deliveries', 'replay', 'test', 'edit --events credit.low', 'enable', 'disable'])(
    'reports that there is no such webhook: %s',
    async (verb) => {
      const [name = '', ...options] = verb.split(' ');
      expect(await svc([name, 'wh_0', ...options])).toEqual({
        ...{ output: '', code: 1 },
        error: 'There is no webhook wh_0.\n',
      });
    },
  );
});
