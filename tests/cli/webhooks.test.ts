import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Keypair } from '@solana/web3.js';
import { findFreePort } from '../../stack/port.ts';
import { MACHINE_ENVIRONMENT, SVC_MAIN } from '../../testing/childProcess.ts';
import { runCli } from '../../testing/cli.ts';
import {
  type Received,
  type Receiver,
  refuse,
  startReceiver,
} from '../../testing/indexer/receiver.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { type EventKind, WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { verifyWebhook } from '../../webhooks/index.ts';

const JOB_KINDS = ['job.submitted', 'job.processing', 'job.completed'];

let service: RunningService;
let wallet: { keypair: Keypair; apiKey: string };
/** Where `svc webhooks listen` forwards to. */
let local: Receiver;
const started: Listening[] = [];

beforeAll(async () => {
  service = await startRunningService();
});
afterAll(() => service?.close());

beforeEach(async () => {
  wallet = await service.addWallet(1_000n);
  local = await startReceiver();
});
afterEach(async () => {
  for (const listening of started.splice(0)) await listening.end();
  await local.close();
});

const signIn = (url = service.baseUrl) => [
  ...['--service', url, '--signer', JSON.stringify([...wallet.keypair.secretKey])],
];

interface Listening {
  /** The secret that it prints at its start. */
  secret: string;
  /** What it printed of events, one line each. */
  lines(): string[];
  notices(): string;
  signal(name: NodeJS.Signals): void;
  exitCode: Promise<number | null>;
  end(): Promise<void>;
}

/** Runs `svc webhooks listen` as a process of its own, until it forwards. */
async function listen(url = service.baseUrl): Promise<Listening> {
  const args = ['webhooks', 'listen', '--forward-to', local.url, ...signIn(url)];
  const child = spawn(process.execPath, [SVC_MAIN, ...args], { env: MACHINE_ENVIRONMENT });
  let [output, notices] = ['', ''];
  child.stdout.on('data', (part) => {
    output += part;
  });
  child.stderr.on('data', (part) => {
    notices += part;
  });
  const exitCode = once(child, 'close').then(([code]) => code as number | null);
  const secretOf = () => /whsec_\S+/.exec(notices)?.[0];
  await until(() => secretOf() !== undefined || child.exitCode !== null);
  const listening = {
    secret: secretOf() ?? `it ended: ${notices}`,
    lines: () => output.split('\n').slice(0, -1),
    notices: () => notices,
    signal: (name: NodeJS.Signals) => void child.kill(name),
    exitCode,
    async end() {
      child.kill('SIGKILL');
      await exitCode;
    },
  };
  started.push(listening);
  return listening;
}

async function createWebhook(receiver: Receiver, events: readonly EventKind[]): Promise<string> {
  const response = await fetch(`${service.baseUrl}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${wallet.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, events }),
  });
  return ((await response.json()) as { id: string }).id;
}

const complete = () =>
  service.openai({ apiKey: wallet.apiKey }).chat.completions.create({
    model: service.model.id,
    messages: [{ role: 'user', content: 'Say hello.' }],
  });

const trigger = (kind: string) => runCli(['webhooks', 'trigger', kind, ...signIn()]);

const kindsOf = ({ received }: Receiver): string[] =>
  received.map(({ body }) => JSON.parse(body).event);
const headersOf = ({ headers }: Received) => Object.keys(headers).sort();

describe('svc webhooks listen', () => {
  it('forwards each event as a webhook gets it, signed with its secret', async () => {
    const remote = await startReceiver();
    await createWebhook(remote, WEBHOOK_KINDS);
    const { secret, lines, signal, exitCode, notices } = await listen();

    await complete();

    const isWhole = ({ received }: Receiver) => received.length === JOB_KINDS.length;
    await until(() => [local, remote].every(isWhole));
    expect(kindsOf(local)).toEqual(JOB_KINDS);
    for (const received of local.received) {
      const delivered = remote.received.find(({ body }) => body === received.body);
      expect(headersOf(received)).toEqual(headersOf(delivered as Received));
      const { headers, body: rawBody } = received;
      const { id, event, created_at } = verifyWebhook({ rawBody, headers, secret });
      expect(headers).toMatchObject({ 'svc-event-id': id, 'svc-delivery-attempt': '1' });
      await until(() => lines().includes(`${created_at}  ${event}  ${id}  200`));
    }
    await remote.close();

    // It signs out and ends with 0 on Ctrl-C, which arrives twice below npx.
    signal('SIGINT');
    signal('SIGINT');
    expect([await exitCode, notices().split('\n').length]).toEqual([0, 3]);
    for (const table of ['sessions', 'webhook_listeners']) {
      const { rowCount } = await service.pool.query(
        `select from service.${table} where wallet = $1`,
        [wallet.keypair.publicKey.toBase58()],
      );
      expect([table, rowCount]).toEqual([table, 0]);
    }
  });

  it('prints how the receiver failed, goes on, and ends with its session', async () => {
    const { lines, exitCode, notices } = await listen();
    const answers: Receiver['answer'][] = [
      refuse,
      (response) => void response.destroy(),
      // The status of the head counts, past 1xx and with any body.
      (response) => {
        response.writeContinue();
        response.writeHead(202, { 'content-length': 100 });
        response.write('ok', () => response.destroy());
      },
    ];
    for (const [index, answer] of answers.entries()) {
      local.answer = answer;
      await trigger('credit.low');
      await until(() => lines().length === index + 1);
    }
    expect(lines().map((line) => line.split('  ').at(-1))).toEqual([
      ...['500', expect.stringMatching(/^no answer \(\w+\)$/), '202'],
    ]);

    await service.pool.query('delete from service.sessions');
    expect(await exitCode).toBe(1);
    expect(notices()).toMatch(/\nThe session has ended\. Run the command again\.\n$/);
  });

  it('connects again after the service was away, and forwards each event once', async () => {
    const port = await findFreePort();
    const settings = { PORT: String(port) };
    const { url, shutdown } = await service.startInstance(settings);
    const { notices, lines } = await listen(url);
    await trigger('credit.low');
    await until(() => lines().length === 1);

    await shutdown.run();
    await complete();
    await until(() => notices().includes('cannot be reached'));
    const again = await service.startInstance(settings);

    await until(() => lines().length === 1 + JOB_KINDS.length);
    expect(kindsOf(local)).toEqual(['credit.low', ...JOB_KINDS]);
    expect(notices()).toContain('Connected again.\n');
    await again.shutdown.run();
  });
});

describe('svc webhooks trigger', () => {
  it("sends an example to the kind's webhooks and to listeners", async () => {
    const remote = await startReceiver();
    const id = await createWebhook(remote, ['job.failed']);
    await createWebhook(remote, ['credit.low']);
    const { lines } = await listen();

    const { code, output, error } = await trigger('job.failed');

    expect(code).toBe(0);
    const eventId = output.trim();
    expect(error).toMatch(new RegExp(`^${id} ${remote.url}: 200 after \\d+ ms$`, 'm'));
    expect(error).toMatch(/^svc webhooks listen: 200$/m);
    await until(() => lines().length === 1);
    for (const { received } of [remote, local]) {
      expect(received.map(({ body }) => JSON.parse(body))).toEqual([
        expect.objectContaining({ id: eventId, event: 'job.failed' }),
      ]);
    }
    remote.answer = refuse;
    const refused = await trigger('job.failed');
    expect(refused.code).toBe(1);
    expect(refused.error).toContain(`${id} ${remote.url}: 500 after`);
    expect(refused.error).toMatch(/\nNot every receiver accepted the event\.\n$/);

    remote.answer = (response) => void response.end();
    local.answer = refuse;
    const refusedHere = await trigger('job.failed');
    expect(refusedHere.code).toBe(1);
    expect(refusedHere.error).toContain(`${id} ${remote.url}: 200 after`);
    expect(refusedHere.error).toContain('svc webhooks listen: 500\n');
    await remote.close();
  });

  it('fails without a recipient, and lists the kinds for an unknown one', async () => {
    const { code, output, error } = await trigger('job.failed');
    expect([code, output]).toEqual([1, '']);
    expect(error).toMatch(
      /^No enabled webhook of the wallet subscribes to job\.failed.*listen\.\n$/,
    );
    const unknown = await trigger('job.settled');
    expect([unknown.code, unknown.error]).toEqual([1, expect.stringContaining('job.completed')]);
  });
});
