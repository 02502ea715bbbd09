// A receiver of webhooks, with express, in plain JavaScript.

import { verifyWebhook, WebhookVerificationError } from '@svc-inference/webhooks';
import express from 'express';

const { WEBHOOK_SECRET: secret, PORT = '3000' } = process.env;
if (!secret) throw new Error("Set WEBHOOK_SECRET to the webhook's secret");

// Yours belongs where it survives a restart, written together with what the event changes.
const seen = new Set();

const app = express();
// The raw bytes: express.json() would lose what was signed.
app.post('/webhooks', express.raw({ type: 'application/json' }), (request, response) => {
  const { body: rawBody, headers } = request;
  try {
    const event = verifyWebhook({ rawBody, headers, secret });
    if (!seen.has(event.id)) {
      if (event.event === 'job.completed') {
        console.log(`${event.data.job_id} cost ${event.data.credits_charged} credits`);
      } else {
        console.log(event.event, event.data);
      }
    }
    seen.add(event.id);
    // Within 10 seconds, or it counts as failed: long work comes after the answer.
    response.sendStatus(204);
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    console.log(`refused: ${error.message}`);
    response.status(400).send(error.reason);
  }
});

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log('listening', server.address());
});
