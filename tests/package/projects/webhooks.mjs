// A receiver of webhooks: packed.test.ts runs this in a project that has only @svc-inference/webhooks.
import { createHmac } from 'node:crypto';
import { verifyWebhook } from '@svc-inference/webhooks';

const secret = 'a secret of sixteen or more';
const rawBody = JSON.stringify({ id: 'evt_1', event: 'credit.low', data: { threshold: 100 } });
const seconds = Math.floor(Date.now() / 1_000);
const digest = createHmac('sha256', secret).update(`${seconds}.${rawBody}`).digest('hex');

function verify(body) {
  try {
    const headers = { 'svc-signature': `t=${seconds},v1=${digest}` };
    return verifyWebhook({ rawBody: body, headers, secret }).event;
  } catch (error) {
    return error.reason;
  }
}

process.stdout.write(`${verify(rawBody)} ${verify(`${rawBody} `)}`);
