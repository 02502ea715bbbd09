import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type StartedProcess, startProcess } from '../../testing/childProcess.ts';
import { runCli } from '../../testing/cli.ts';
import { startIndexer } from '../../testing/indexer/indexerProcess.ts';
import type { TestIndexer } from '../../testing/indexer/inProcessIndexer.ts';
import { type Receiver, startReceiver } from '../../testing/indexer/receiver.ts';
import { secretsKeySteps } from '../../testing/service/gatedService.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { verifyWebhook } from '../../webhooks/index.ts';

const newKey = randomBytes(32).toString('base64');
let service: RunningService;
let receiver: Receiver;
let oldKey: string;
const apis: StartedProcess[] = [];
let indexer: TestIndexer;

beforeAll(async () => {
  [service, receiver] = await Promise.all([startRunningService(), startReceiver()]);
  oldKey = service.apiEnvironment.SVC_SECRETS_KEY as string;
  indexer = service.indexer;
});

afterAll(async () => {
  await Promise.all(apis.map((api) => api.kill()));
  await indexer?.terminate();
  await service?.close();
  await receiver?.close();
});

/** The keys of a process, as docs/deploying.md has them at each step. */
const stepKeys = (step: number): Record<string, string> => {
  const [present = '', previous = ''] = secretsKeySteps(oldKey, newKey)[step] ?? [];
  return { SVC_SECRETS_KEY: present, SVC_SECRETS_KEY_PREVIOUS: previous };
};

async function startApiAt(step: number): Promise<string> {
  const api = await startProcess('api/main.ts', { ...service.apiEnvironment, ...stepKeys(step) });
  apis.push(api);
  return api.url;
}

async function replaceIndexer(step: number): Promise<void> {
  await indexer.terminate();
  indexer = await startIndexer(service.ledger, service.apiEnvironment.DATABASE_URL as string, {
    ...{ SVC_ALLOW_LOOPBACK: 'true', ...stepKeys(step) },
  });
}

async function post(url: string, body: object, idempotencyKey?: string) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.apiKey}`,
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    body: JSON.stringify(body),
  });
  expect(response.ok).toBe(true);
  const isReplay = response.headers.get('x-svc-replayed') === 'true';
  return { isReplay, body: (await response.json()) as { id: string; secret: string } };
}

/** Asks for a completion, under the same key the same one. @returns whether it had been made before */
async function ask(baseUrl: string, idempotencyKey: string): Promise<boolean> {
  const messages = [{ role: 'user', content: `Say ${idempotencyKey}.` }];
  const url = `${baseUrl}/v1/chat/completions`;
  return (await post(url, { model: service.model.id, messages }, idempotencyKey)).isReplay;
}

/** @returns the secret of a webhook that hears of every completion from now on */
async function createWebhook(baseUrl: string): Promise<string> {
  const webhook = { url: `${receiver.url}/${randomUUID()}`, events: ['job.completed'] };
  return (await post(`${baseUrl}/v1/webhooks`, webhook)).body.secret;
}

/** Until a delivery has come that each of the secrets has signed, from one webhook each. */
async function expectDelivered(secrets: string[]): Promise<void> {
  const isSignedBy = (secret: string) =>
    receiver.received.some(({ body: rawBody, headers }) => {
      try {
        return verifyWebhook({ rawBody, headers, secret }).event === 'job.completed';
      } catch {
        return false;
      }
    });
  await until(async () => secrets.every(isSignedBy));
  receiver.received.length = 0;
}

describe('SVC_SECRETS_KEY', () => {
  it('changes step by step in a running service, without a lost webhook or a second charge', async () => {
    // given a service under the old key, a webhook, and a request that was charged
    const first = service.baseUrl;
    const secrets = [await createWebhook(first)];
    expect(await ask(first, 'a')).toBe(false);
    await expectDelivered(secrets);

    // when every process knows both keys, and the first of them seals with the new one
    const opening = await startApiAt(1);
    await replaceIndexer(1);
    const sealing = await startApiAt(2);
    secrets.push(await createWebhook(sealing));

    // then what each of them claims is a repeat at the others
    expect(await ask(opening, 'a')).toBe(true);
    expect(await ask(sealing, 'a')).toBe(true);
    expect(await ask(sealing, 'b')).toBe(false);
    expect(await ask(opening, 'b')).toBe(true);
    // and both webhooks hear of the new request
    await expectDelivered(secrets);

    // when all of them seal with the new key, and the secrets were resealed
    await replaceIndexer(2);
    const { DATABASE_URL = '' } = service.apiEnvironment;
    const resealed = await runCli(['webhooks', 'reseal'], {
      env: { DATABASE_URL, ...stepKeys(2) },
    });
    expect(resealed.error).toBe('Resealed secrets: 1. Under SVC_SECRETS_KEY already: 1.\n');

    // then the old key is needed no more
    await replaceIndexer(3);
    const last = await startApiAt(3);
    expect(await ask(last, 'b')).toBe(true);
    expect(await ask(last, 'c')).toBe(false);
    await expectDelivered(secrets);
    // In the mirror: a job of some minutes ago is closed on the ledger.
    const { rows } = await service.pool.query('select status from mirror.jobs');
    expect(rows).toEqual(Array(3).fill({ status: 'settled' }));
  });
});
