import { z } from 'zod';
import { time } from '../../common/contracts/values.ts';
import { API_VERSION, type EventKind } from '../../webhooks/events.ts';
import { EXAMPLE, webhookKinds } from '../../webhooks/kinds.ts';

/** What is delivered for one kind of event. */
export function eventEnvelope(event: EventKind) {
  return z.object({
    id: z.string().regex(/^evt_/).describe('The same at each attempt: drop what you have seen.'),
    event: z.literal(event),
    created_at: time.describe("The ledger's time of the event."),
    api_version: z.iso
      .date()
      .describe('The form of `data`. Our choice: pinned when the webhook is created.'),
    data: webhookKinds[event].data,
  });
}

/** An example of it. */
export function eventExample(event: EventKind) {
  return {
    id: 'evt_3c1b0a5e7d2f4b6890a1c2e3d4f5a6b7',
    event,
    created_at: EXAMPLE.settledAt,
    api_version: API_VERSION,
    data: webhookKinds[event].example,
  };
}
