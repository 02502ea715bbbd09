import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { findFreePort } from '../../stack/port.ts';
import { MACHINE_ENVIRONMENT } from '../../testing/childProcess.ts';
import { runCli } from '../../testing/cli.ts';
import { type Received, startReceiver } from '../../testing/indexer/receiver.ts';
import { needs } from '../../testing/machine/needs.ts';
import { PYTHON_WITH_PACKAGES } from '../../testing/machine/pythonPackages.ts';
import { BASH, runScript } from '../../testing/machine/shell.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { verifyWebhook } from '../../webhooks/index.ts';
import { generateSecret, webhookHeaders } from '../../webhooks/signature.ts';
import { commandsOf } from '../docs/blocks/shell.ts';
import { checkout, codeBlocksOf, readDocuments } from '../docs/documents.ts';
import { readSource } from '../tidy/sourceTree.ts';
import { type ListeningReceiver, startListening, startReceiverProcess } from './receiverProcess.ts';

const page = readDocuments().find(({ path }) => path === 'docs/webhooks.md');
if (!page) throw new Error('docs/webhooks.md is gone');
const blocks = codeBlocksOf(page);
const commands = blocks
  .filter(({ language }) => language === 'console')
  .map(({ text }) => commandsOf(text));
/** The commands of the page's block with this text. */
const commandsWith = (text: string): string[] =>
  commands.find((session) => session.some((command) => command.includes(text))) ?? [];

const python = needs('packages of PyPI');
const shell = needs('curl', 'openssl');
const javascript = {
  language: 'js',
  source: 'examples/api/typescript/webhook.ts',
  savedAs: 'webhook.mjs',
  command: [process.execPath, 'webhook.ts'] as const,
  starting: 'node webhook.mjs',
  wanted: needs(),
};
const receivers = [
  javascript,
  {
    language: 'python',
    source: 'examples/api/python/webhook.py',
    savedAs: 'webhook.py',
    command: [PYTHON_WITH_PACKAGES, '-m', 'uvicorn', 'webhook:app', '--port', '0'] as const,
    starting: 'uvicorn webhook:app',
    wanted: python,
  },
];

let service: RunningService;
/** Where receivers are saved and run, as in a project that has the packages. */
let folder: string;
const started: { kill(): Promise<void> }[] = [];

/** Deliveries of the service, and the secrets that signed them: before, during and after a rotation. */
const PHASES = ['before', 'during', 'after'] as const;
type Phase = (typeof PHASES)[number];
const SIGNED_BY: Record<Phase, readonly string[]> = {
  before: ['old'],
  during: ['old', 'new'],
  after: ['new'],
};
const deliveries = {} as Record<Phase, Received>;
let secrets: { old: string; new: string };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'receivers-'));
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'));
  for (const { source } of receivers) {
    copyFileSync(join(checkout, source), join(folder, basename(source)));
  }
  service = await startRunningService();
  const receiver = await startReceiver();
  started.push({ kill: () => receiver.close() });
  const deliver = async (): Promise<Received> => {
    receiver.received.length = 0;
    await service.openai().chat.completions.create({
      model: service.model.id,
      messages: [{ role: 'user', content: 'Say hello.' }],
    });
    await until(() => receiver.received.length > 0);
    return receiver.received[0] as Received;
  };

  const response = await fetch(`${service.baseUrl}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, events: ['job.completed'] }),
  });
  const { id, secret } = (await response.json()) as { id: string; secret: string };
  deliveries.before = await deliver();
  const { DATABASE_URL = '', SVC_SECRETS_KEY = '' } = service.indexerEnvironment;
  const env = { DATABASE_URL, SVC_SECRETS_KEY };
  const { output } = await runCli(['webhooks', 'rotate', id], { env });
  deliveries.during = await deliver();
  await service.pool.query(
    'update service.webhooks set previous_secret_until = now() where id = $1',
    [id],
  );
  deliveries.after = await deliver();
  secrets = { old: secret, new: output.trim() };
});

afterAll(async () => {
  for (const each of started) await each.kill();
  await service?.close();
  rmSync(folder, { recursive: true });
});

async function start(
  { command }: Pick<(typeof receivers)[number], 'command'>,
  secret: string,
): Promise<ListeningReceiver> {
  const environment = { WEBHOOK_SECRET: secret, PORT: '0' };
  const receiver = await startListening(command, { folder, environment });
  started.push(receiver);
  return receiver;
}

/** Whether an error says that a delivery is not genuine. @throws any other */
function refuses(kind: new (...args: never[]) => Error, verify: () => unknown): boolean {
  try {
    verify();
    return false;
  } catch (error) {
    if (error instanceof kind) return true;
    throw error;
  }
}

/** The page's command by hand, whose output is compared with each signature that the page names. */
async function acceptsByHand({ body, headers }: Received, secret: string): Promise<boolean> {
  const [command = ''] = commandsWith('openssl dgst');
  writeFileSync(join(folder, 'body.json'), body);
  for (const name of ['svc-signature', 'svc-signature-previous']) {
    const [, T = '', v1] = /^t=(\d+),v1=(\w+)$/.exec(String(headers[name])) ?? [];
    const env = { ...MACHINE_ENVIRONMENT, T, WEBHOOK_SECRET: secret };
    const printed = await runScript(command, { cwd: folder, env });
    if (printed.split(' ')[0] === v1) return true;
  }
  return false;
}

/** Reads a delivery and a secret, and a plain secret as its bytes. */
const STANDARD_IN_PYTHON = `
import json, sys
from standardwebhooks import Webhook, WebhookVerificationError
given = json.load(sys.stdin)
secret = given["secret"] if given["secret"].startswith("whsec_") else given["secret"].encode()
try:
    print(Webhook(secret).verify(given["body"], given["headers"])["event"])
except WebhookVerificationError as error:
    print("refused:", error)
`;

function acceptsInPython(delivery: { body: string; headers: object }, secret: string): boolean {
  const input = JSON.stringify({ ...delivery, secret });
  const printed = execFileSync(PYTHON_WITH_PACKAGES, ['-c', STANDARD_IN_PYTHON], {
    input,
    encoding: 'utf8',
  });
  return printed.trim() === 'job.completed';
}

const standardHeaders = (headers: object): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('webhook-')));

/** What verifies a delivery with one secret, as its users run it. */
const verifiers: readonly {
  name: string;
  accepts: (delivery: Received, secret: string) => boolean | Promise<boolean>;
  wanted: ReturnType<typeof needs>;
}[] = [
  ...receivers.map((receiver) => {
    const running = new Map<string, Promise<ListeningReceiver>>();
    return {
      name: basename(receiver.source),
      wanted: receiver.wanted,
      async accepts(delivery: Received, secret: string) {
        const process = running.get(secret) ?? start(receiver, secret);
        running.set(secret, process);
        const status = await (await process).deliver(delivery);
        expect([204, 400]).toContain(status);
        return status === 204;
      },
    };
  }),
  { name: 'openssl', accepts: acceptsByHand, wanted: shell },
  {
    name: 'standardwebhooks for Node',
    wanted: needs(),
    accepts: ({ body, headers }, secret) =>
      !refuses(WebhookVerificationError, () =>
        new Webhook(secret).verify(body, standardHeaders(headers)),
      ),
  },
  { name: 'standardwebhooks for Python', accepts: acceptsInPython, wanted: python },
];

describe.each(verifiers)('a receiver with $name', ({ accepts, wanted: { it } }) => {
  it.each(PHASES)(
    'accepts a delivery %s a rotation with each of its secrets alone',
    async (phase) => {
      for (const [name, secret] of Object.entries(secrets)) {
        const isAccepted = await accepts(deliveries[phase], secret);
        expect([name, isAccepted]).toEqual([name, SIGNED_BY[phase].includes(name)]);
      }
    },
  );

  it('refuses a delivery whose body was changed', async () => {
    const { body, headers } = deliveries.during;
    const changed = body.replace(/"credits_charged":\d+/, '"credits_charged":0');
    expect(changed).not.toBe(body);
    expect(await accepts({ headers, body: changed }, secrets.new)).toBe(false);
  });
});

describe('the libraries of Standard Webhooks', () => {
  it('take a secret of any other form as bytes', () => {
    const secret = 'a secret of my own';
    const body = JSON.stringify({ id: 'evt_1', event: 'job.completed' });
    const signed = { secrets: { current: secret }, eventId: 'evt_1', body, nowMs: Date.now() };
    const headers = standardHeaders(webhookHeaders(signed));

    expect(new Webhook(secret, { format: 'raw' }).verify(body, headers)).toEqual(JSON.parse(body));
    if (python.isMet) expect(acceptsInPython({ body, headers }, secret)).toBe(true);
  });
});

describe.each(receivers)('the receiver in $language', (example) => {
  const { language, source, savedAs, starting, wanted } = example;
  const { it } = wanted;

  it('handles a genuine event once, and refuses forged and old ones', async () => {
    const secret = generateSecret();
    const receiver = await start(example, secret);
    const deliver = ({ eventId = 'evt_1', key = secret, nowMs = Date.now(), headers = {} }) => {
      const data = { job_id: `job_of_${eventId}`, credits_charged: 8 };
      const body = JSON.stringify({ id: eventId, event: 'job.completed', data });
      const signed = webhookHeaders({ secrets: { current: key }, eventId, body, nowMs });
      const type = { 'content-type': 'application/json' };
      return receiver.deliver({ headers: { ...type, ...signed, ...headers }, body });
    };

    expect(await deliver({})).toBe(204);
    await receiver.untilPrinted(/^job_of_evt_1 cost 8 credits$/m);
    // Again, as after an answer that got lost.
    expect(await deliver({})).toBe(204);
    expect(await deliver({ eventId: 'evt_2', key: generateSecret() })).toBe(400);
    for (const seconds of [301, -303]) {
      expect(await deliver({ eventId: 'evt_3', nowMs: Date.now() - seconds * 1_000 })).toBe(400);
    }
    for (const forged of ['', 'nonsense', 't=,v1=', 't=é,v1=é', 't=1']) {
      expect(await deliver({ eventId: 'evt_4', headers: { 'Svc-Signature': forged } })).toBe(400);
    }
    await receiver.untilPrinted(/(?:refused: .*){8}/s);
    expect(receiver.count(' cost 8 credits')).toBe(1);
  });

  it('says of a padded secret that it is padded', async () => {
    const secret = generateSecret();
    const delivery = { secrets: { current: secret }, eventId: 'evt_1', body: '{}' };
    const type = { 'content-type': 'application/json' };
    const headers = { ...type, ...webhookHeaders({ ...delivery, nowMs: Date.now() }) };
    const wrong = [`${secret}\n`, `"${secret}"`, `${secret}x`];
    const said: number[] = [];
    for (const one of wrong) {
      const receiver = await start(example, one);
      expect(await receiver.deliver({ headers, body: '{}' })).toBe(400);
      await receiver.untilPrinted(/refused: /);
      said.push(receiver.count('The secret here has white space or a quote at an end'));
    }
    expect(said).toEqual([1, 1, 0]);
  });

  it('is on the page as it is', () => {
    const shown = blocks.filter((block) => block.language === language).map(({ text }) => text);
    expect(shown).toContain(readSource(source));
  });

  const byPage = wanted.isMet ? shell : wanted;
  byPage.it('shows its first delivery after the commands of the page', async () => {
    const port = String(await findFreePort());
    const code = blocks.find((block) => block.language === language)?.text ?? '';
    writeFileSync(join(folder, savedAs), code);
    const terminal = startReceiverProcess(BASH, {
      folder,
      environment: {
        BASE_URL: service.baseUrl,
        API_KEY: service.apiKey,
        PORT: port,
        PATH: [dirname(process.execPath), dirname(PYTHON_WITH_PACKAGES), process.env.PATH].join(
          delimiter,
        ),
      },
    });
    started.push(terminal);
    const enter = (text: string) => {
      for (const command of commandsWith(text)) terminal.enter(command.replaceAll('3000', port));
    };

    // The packages are there already.
    terminal.enter('npm() { :; }');
    enter('export WEBHOOK_SECRET=');
    enter(starting);
    await terminal.untilPrinted(/running on |listening /);
    enter('/v1/webhooks');
    enter('/v1/chat/completions');

    await terminal.untilPrinted(/job_[0-9a-f]{32} cost 8 credits/);
  });
});

shell.it('the example in curl makes a webhook, and shows its secret', async () => {
  const { baseUrl: BASE_URL, apiKey: API_KEY } = service;
  const env = { ...MACHINE_ENVIRONMENT, BASE_URL, API_KEY, WEBHOOK_URL: 'https://example.com/' };
  const script = readSource('examples/api/curl/webhook.sh');
  const made = JSON.parse(await runScript(script, { env }));
  expect(made).toMatchObject({ status: 'active', secret: expect.stringMatching(/^whsec_/) });
});

describe('the delivery on the page', () => {
  it('has the headers of a real one', () => {
    const [shown = ''] = blocks
      .filter(({ language }) => language === 'http')
      .map(({ text }) => text);
    const names = [...shown.matchAll(/^([a-z-]+): /gm)].map(([, name]) => name);
    const sent = Object.keys(deliveries.before.headers);

    const ours = sent.filter((name) => /^(svc|webhook|content-type)/.test(name));
    expect(names.toSorted()).toEqual(ours.toSorted());
    const { headers, body } = deliveries.before;
    const event = verifyWebhook({ rawBody: body, headers, secret: secrets.old });
    const [, envelope = ''] = shown.split('\n\n');
    expect(envelope.match(/(?<=[{,])"\w+"(?=:)/g)).toEqual(
      Object.keys(event).map((name) => `"${name}"`),
    );
  });
});
