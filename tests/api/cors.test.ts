import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../api/config.ts';
import { serveApp } from './serveApp.ts';

const allowed = 'https://console.example.com';
const other = 'https://elsewhere.example.com';
let closed: Awaited<ReturnType<typeof serveApp>>;
let open: Awaited<ReturnType<typeof serveApp>>;

beforeAll(async () => {
  closed = await serveApp();
  open = await serveApp({ corsOrigins: [allowed] });
});

afterAll(async () => {
  await closed.close();
  await open.close();
});

const preflight = (url: string, origin: string) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type, x-stainless-lang',
    },
  });

const corsHeaders = ({ headers }: Response) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));

describe('with no origins configured', () => {
  it('no page may read an answer, and preflights get no permission [surface.cors]', async () => {
    const asked = await preflight(closed.url, allowed);
    const read = await fetch(`${closed.url}/health`, { headers: { origin: allowed } });

    expect(asked.status).toBe(404);
    expect([...corsHeaders(asked), ...corsHeaders(read)]).toEqual([]);
  });
});

describe('a page of a configured origin', () => {
  it('may send a preflight without a key', async () => {
    const answer = await preflight(open.url, allowed);

    expect(answer.status).toBe(204);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': allowed,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'authorization, content-type, x-stainless-lang',
      'access-control-max-age': '7200',
      vary: 'Origin',
    });
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('can read answers with their headers, and errors too [surface.cors]', async () => {
    const answer = await fetch(`${open.url}/v1/account`, { headers: { origin: allowed } });

    expect(answer.status).toBe(401);
    expect(answer.headers.get('access-control-allow-origin')).toBe(allowed);
    const exposed = answer.headers.get('access-control-expose-headers')?.split(', ');
    const due =
      'x-request-id x-svc-job-id x-svc-tx-signature x-svc-settlement-tx x-svc-worker ' +
      'x-svc-credits-remaining retry-after x-should-retry';
    expect(exposed).toEqual(expect.arrayContaining(due.split(' ')));
  });
});

describe('a page of another origin', () => {
  it.each([other, `${allowed}.example.org`, 'null', allowed.replace('https', 'http')])(
    'gets no permission: %s',
    async (origin) => {
      const asked = await preflight(open.url, origin);
      const read = await fetch(`${open.url}/health`, { headers: { origin } });

      expect(asked.status).toBe(404);
      expect([...corsHeaders(asked), ...corsHeaders(read)]).toEqual([]);
      // A shared cache must not give one origin's answer to another.
      expect(read.headers.get('vary')).toBe('Origin');
    },
  );
});

describe('the setting SVC_CORS_ORIGINS', () => {
  const refusal = (origins: string): string => {
    try {
      loadConfig({ SVC_CORS_ORIGINS: origins });
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };

  it.each([
    `${allowed}, http://127.0.0.1:5173`,
    ...['app://obsidian.md', 'tauri://localhost', 'capacitor://localhost', 'vscode-webview://x'],
    'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
  ])('accepts origins of pages and apps: %s', (origins) => {
    expect(refusal(origins)).not.toContain('SVC_CORS_ORIGINS');
  });

  it.each([
    '*',
    'null',
    'app://notes/',
    'http://Console.example.com',
    'console.example.com',
    `${allowed}/`,
    `${allowed}/path`,
    `${allowed},`,
  ])('refuses values that no browser sends as an origin: %s', (origins) => {
    expect(refusal(origins)).toContain('SVC_CORS_ORIGINS');
  });
});
