import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type Receiver, startReceiver } from '../../testing/indexer/receiver.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { verifyWebhook, type WebhookEvent } from '../../webhooks/index.ts';

let service: RunningService;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
  service = await startRunningService();
});

afterEach(async () => {
  await service.close();
  await receiver.close();
});

async function createWebhook(): Promise<string> {
  const response = await fetch(`${service.baseUrl}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}` },
    body: JSON.stringify({
      url: receiver.url,
      events: ['job.submitted', 'job.processing', 'job.completed'],
    }),
  });
  const { secret } = (await response.json()) as { secret: string };
  return secret;
}

it("a webhook receives a job's signed events from lock to settlement, equal to the API's answers [events.journey]", async () => {
  const secret = await createWebhook();
  const completion = await service.openai().chat.completions.create({
    model: service.model.id,
    messages: [{ role: 'user', content: 'Say hello.' }],
  });
  const job = await service.get(`/v1/jobs/${completion.id.replace('chatcmpl-', '')}`);

  await until(async () => receiver.received.length >= 3);
  const events = new Map<string, WebhookEvent>();
  for (const { body, headers } of receiver.received) {
    const event = verifyWebhook({ rawBody: body, headers, secret });
    events.set(event.event, event);
    expect(headers).toMatchObject({ 'svc-event-id': event.id, 'svc-delivery-attempt': '1' });
  }
  expect([...events.keys()].sort()).toEqual(['job.completed', 'job.processing', 'job.submitted']);
  expect(events.get('job.submitted')?.data).toMatchObject({
    job_id: job.id,
    escrow_tx: job.on_chain.escrow_tx,
    escrow_pda: job.on_chain.escrow_pda,
  });
  expect(events.get('job.completed')?.data).toEqual({
    job_id: job.id,
    model: job.model,
    tier: job.tier,
    credits_charged: job.credits_charged,
    usdc_value: job.usdc_value,
    worker_address: job.worker_address,
    settlement_tx: job.on_chain.settlement_tx,
    chain_slot: job.on_chain.slot,
    prompt_tokens: job.usage.prompt_tokens,
    completion_tokens: job.usage.completion_tokens,
    credits_remaining: Number(service.boughtCredits) - job.credits_charged,
  });
});
