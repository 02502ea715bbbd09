import { z } from 'zod';
import { API_VERSION, type EventKind } from '../../webhooks/events.ts';
import { EXAMPLE, envelope, webhookKinds } from '../../webhooks/kinds.ts';

export function eventEnvelope(kind: EventKind) {
  return envelope.extend({ event: z.literal(kind), data: webhookKinds[kind].data });
}

/** An example of it. */
export function eventExample(kind: EventKind) {
  return {
    id: 'evt_3c1b0a5e7d2f4b6890a1c2e3d4f5a6b7',
    event: kind,
    created_at: EXAMPLE.settledAt,
    api_version: API_VERSION,
    data: webhookKinds[kind].example,
  };
}
