import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { API_VERSION } from '../../webhooks/events.ts';
import { verifyWebhook, type WebhookEvent } from '../../webhooks/index.ts';
import { generateSecret, type SigningSecrets, webhookHeaders } from '../../webhooks/signature.ts';

const secret = generateSecret();
const nowMs = 1_800_000_000_999;
const time = 1_800_000_000;
const event = {
  id: 'evt_1',
  event: 'credit.low',
  created_at: '2027-01-15T08:00:00.000Z',
  api_version: API_VERSION,
  data: { credits_remaining: 99, usdc_value: 0.99, threshold: 100 },
} satisfies WebhookEvent;
/** Not as JSON.stringify writes it: the bytes are signed, not their meaning. */
const rawBody = JSON.stringify(event, null, 1).replace('credits', '\\u0063redits');

function sign(secrets: SigningSecrets = { current: secret }, at = nowMs): Record<string, string> {
  return webhookHeaders({ secrets, eventId: event.id, body: rawBody, nowMs: at });
}

type Delivery = Parameters<typeof verifyWebhook>[0];

const verify = (changes: Partial<Delivery> = {}) =>
  verifyWebhook({ rawBody, headers: sign(), secret, nowMs, ...changes });

function reasonOf(changes: Partial<Delivery>): unknown {
  try {
    return verify(changes);
  } catch (error) {
    return (error as { reason?: string }).reason ?? error;
  }
}

describe('the webhook signature', () => {
  it("equals the contract's formula, computed by hand [events.signature]", () => {
    const digest = createHmac('sha256', secret).update(`${time}.${rawBody}`).digest('hex');
    expect(sign()['Svc-Signature']).toBe(`t=${time},v1=${digest}`);
  });

  // Verifiers of others: receivers.test.ts.
  it('verifies with either secret during a rotation [events.rotation]', () => {
    const [previous, current] = [generateSecret(), generateSecret()];
    const headers = sign({ current, previous }, Date.now());
    for (const key of [previous, current]) {
      expect(verify({ headers, secret: key, nowMs: Date.now() })).toEqual(event);
    }
    const after = sign({ current });
    expect(Object.keys(after)).not.toContain('Svc-Signature-Previous');
    expect(reasonOf({ headers: after, secret: previous })).toBe('signature_mismatch');
  });
});

describe('the webhook verifier', () => {
  it.each<[string, Partial<Delivery>]>([
    ['the text', {}],
    ['bytes', { rawBody: new TextEncoder().encode(rawBody) }],
    [
      'headers as Node gives them',
      { headers: { 'svc-signature': sign()['Svc-Signature'], host: undefined } },
    ],
    ['headers as Fetch gives them', { headers: new Headers(sign()) }],
    [
      'headers as a map of lists',
      { headers: new Map([['SVC-SIGNATURE', [sign()['Svc-Signature'] ?? '']]]) as never },
    ],
    [
      'schemes that it does not know',
      { headers: { 'svc-signature': `v0=old,${sign()['Svc-Signature']},v2=new` } },
    ],
  ])('reads a genuine delivery from %s', (_what, changes) => {
    expect(verify(changes)).toEqual(event);
  });

  it('accepts any of several secrets', () => {
    expect(verify({ secret: [generateSecret(), secret] })).toEqual(event);
    expect(reasonOf({ secret: [generateSecret()] })).toBe('signature_mismatch');
  });

  it.each([
    ['', /this signature$/],
    ['\n', /white space or a quote at an end$/],
    ['"', /white space or a quote at an end$/],
  ])('says what may be wrong with a secret that ends with %j', (end, message) => {
    expect(() => verify({ secret: `${generateSecret()}${end}` })).toThrow(message);
  });

  it.each([
    [300, 'too_old'],
    [-300, 'too_new'],
  ])(
    'accepts a time up to its limit (%d s) and not a second more [events.receiver]',
    (ageSeconds, reason) => {
      const step = Math.sign(ageSeconds);
      const atAge = (seconds: number) => ({ nowMs: (time + seconds) * 1_000 });
      expect(verify(atAge(ageSeconds))).toEqual(event);
      expect(reasonOf(atAge(ageSeconds + step))).toBe(reason);
      expect(verify({ ...atAge(ageSeconds + step), toleranceSeconds: 301 })).toEqual(event);
    },
  );

  const [, digest = ''] = (sign()['Svc-Signature'] ?? '').split('v1=');
  it.each<[string, Partial<Delivery>, string]>([
    ['a changed body', { rawBody: rawBody.replace('99', '98') }, 'signature_mismatch'],
    ['a re-serialised body', { rawBody: JSON.stringify(event) }, 'signature_mismatch'],
    ['another secret', { secret: generateSecret() }, 'signature_mismatch'],
    ['a changed time', { headers: { 'svc-signature': `t=1,v1=${digest}` } }, 'signature_mismatch'],
    ['no signature', { headers: {} }, 'signature_missing'],
    ['an empty signature', { headers: { 'svc-signature': '' } }, 'signature_malformed'],
    ['no time', { headers: { 'svc-signature': `v1=${digest}` } }, 'signature_malformed'],
    ['no digest', { headers: { 'svc-signature': `t=${time}` } }, 'signature_malformed'],
    ['a cut digest', { headers: { 'svc-signature': `t=${time},v1=ab` } }, 'signature_malformed'],
    ['a clock that is broken', { nowMs: Number.NaN }, 'too_old'],
    ['a parsed body', { rawBody: event as unknown as string }, 'body_not_raw'],
  ])('refuses %s [events.receiver]', (_what, changes, reason) => {
    expect(reasonOf(changes)).toBe(reason);
  });

  it.each<[string | string[]]>([[''], [['']], [[]], [undefined as unknown as string]])(
    'refuses the missing secret %j, with which anybody could sign',
    (missing) => {
      expect(reasonOf({ secret: missing, headers: sign({ current: '' }) })).toBeInstanceOf(
        TypeError,
      );
    },
  );
});

describe("the envelope's version", () => {
  it('is the date of the latest release in the changelog [versions.api-version]', () => {
    const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
    const [, date] = /^## 0\.1\.0 \((.*)\)$/m.exec(changelog) ?? [];
    expect(['unreleased', API_VERSION]).toContain(date);
  });
});
