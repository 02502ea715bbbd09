import { describe, expect, it } from '@jest/globals';
import type { AppServices } from '../../api/app.ts';
import { serveApp } from './serveApp.ts';

async function headersOf(path: string, services: Partial<AppServices> = {}) {
  const app = await serveApp(services);
  try {
    return Object.fromEntries((await fetch(`${app.url}${path}`)).headers);
  } finally {
    await app.close();
  }
}

describe('every answer', () => {
  it.each(['/health', '/v1/account', '/nowhere', '/docs', '/openapi.json'])(
    'keeps browsers from framing, type guessing and sending a referrer: %s [surface.security-headers]',
    async (path) => {
      expect(await headersOf(path)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none';.*frame-ancestors 'none'(;|$)/,
        ),
      });
    },
  );

  it('binds browsers to HTTPS exactly when clients reach the service by it [surface.security-headers]', async () => {
    const behindTls = await headersOf('/health');
    const plain = await headersOf('/health', { publicUrl: 'http://127.0.0.1:8080' });

    expect(behindTls['strict-transport-security']).toBe('max-age=63072000');
    expect(plain).not.toHaveProperty('strict-transport-security');
  });

  it('binds subdomains to HTTPS only by a setting', async () => {
    const headers = await headersOf('/health', { bindsSubdomains: true });
    expect(headers['strict-transport-security']).toBe('max-age=63072000; includeSubDomains');
  });

  it("does not name the server's software", async () => {
    const headers = await headersOf('/health');

    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('server');
  });
});
