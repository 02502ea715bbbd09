import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { generateSecret, webhookHeaders } from '../../webhooks/signature.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const secret = generateSecret();

let receiver: ChildProcess;
let output: AsyncIterator<string>;
let lines: Interface;
let url: string;

beforeEach(async () => {
  receiver = spawn(process.execPath, ['examples/webhookReceiver.ts'], {
    cwd: root,
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (!receiver.stdout) throw new Error('the receiver has no output');
  lines = createInterface({ input: receiver.stdout });
  output = lines[Symbol.asyncIterator]();
  const [, port] = /port: (\d+)/.exec(await nextLine()) ?? [];
  url = `http://127.0.0.1:${port}/webhooks`;
});

afterEach(async () => {
  lines.close();
  receiver.kill();
  await once(receiver, 'exit');
});

async function nextLine(): Promise<string> {
  return (await output.next()).value;
}

async function deliver(options: { eventId: string; key?: string; nowMs?: number }) {
  const { eventId, key = secret, nowMs = Date.now() } = options;
  const data = { job_id: `job_of_${eventId}`, credits_charged: 8 };
  const body = JSON.stringify({ id: eventId, event: 'job.completed', data });
  const signature = webhookHeaders({ secrets: { current: key }, eventId, body, nowMs });
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...signature, 'content-type': 'application/json' },
    body,
  });
  return response.status;
}

describe('the example receiver', () => {
  it('handles a genuine event once, and refuses forged and old ones', async () => {
    expect(await deliver({ eventId: 'evt_1' })).toBe(204);
    expect(await nextLine()).toBe('job_of_evt_1 cost 8 credits');
    // Again, as after an answer that got lost.
    expect(await deliver({ eventId: 'evt_1' })).toBe(204);
    expect(await deliver({ eventId: 'evt_2', key: generateSecret() })).toBe(400);
    expect(await nextLine()).toBe('refused: signature_mismatch');
    expect(await deliver({ eventId: 'evt_3', nowMs: Date.now() - 301_000 })).toBe(400);
    expect(await nextLine()).toBe('refused: too_old');
  });
});
