import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { completionSamples, firstRequest } from '../../console/data/samples.ts';
import { HAS_PYTHON } from '../docs/blocks/python.ts';

const run = promisify(execFile);

/** Clients that print what they are asked to send, and answer nothing. */
const PYTHON_CLIENT = `
import json
class OpenAI:
    def __init__(self, base_url, api_key):
        self.to = [base_url, api_key]
        self.chat = self.completions = self
    def create(self, **request):
        print(json.dumps({"to": self.to, "request": request}))
        return []
`;
const TYPESCRIPT_CLIENT = `
export default class OpenAI {
  constructor({ baseURL, apiKey }) {
    const create = async (request) => {
      console.log(JSON.stringify({ to: [baseURL, apiKey], request }));
      return [];
    };
    this.chat = { completions: { create } };
  }
}
`;

const HARD = `It's "two" lines\nwith \\ $HOME \`id\` 'quotes' and ünïcode 😀 \u2028.`;
const REQUESTS = [
  ['a system message and a limit', 256],
  ['no limit', undefined],
] as const;

const requestOf = (limit: number | undefined) =>
  ({
    model: 'a-model',
    messages: [
      { role: 'system', content: HARD },
      { role: 'user', content: `${HARD} And so on.` },
    ],
    ...(limit !== undefined && { max_tokens: limit }),
    stream: true,
  }) as const;

describe('the code that the pages show', () => {
  let folder: string;
  let server: Server;
  const received: { to: (string | undefined)[]; request: unknown }[] = [];
  let publicUrl: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-samples-'));
    writeFileSync(join(folder, 'openai.py'), PYTHON_CLIENT);
    mkdirSync(join(folder, 'node_modules/openai'), { recursive: true });
    writeFileSync(join(folder, 'node_modules/openai/index.mjs'), TYPESCRIPT_CLIENT);
    writeFileSync(join(folder, 'node_modules/openai/package.json'), '{"exports": "./index.mjs"}');
    server = createServer(async (request, response) => {
      const to = [`${publicUrl}${request.url}`, request.headers.authorization];
      received.push({ to, request: JSON.parse(await readText(request)) });
      response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const codeIn = (language: string, limit: number | undefined) =>
    completionSamples({ publicUrl, apiKey: 'a-key', request: requestOf(limit) }).find(
      ([one]) => one === language,
    )?.[1] ?? '';
  const printed = async (program: string, name: string, code: string) => {
    writeFileSync(join(folder, name), code);
    const { stdout } = await run(program, [join(folder, name)]);
    return JSON.parse(stdout);
  };

  it.each(REQUESTS)('sends every field by curl: %s', async (_fields, limit) => {
    await run('bash', ['-c', codeIn('curl', limit)]);

    expect(received.at(-1)).toEqual({
      to: [`${publicUrl}/v1/chat/completions`, 'Bearer a-key'],
      request: requestOf(limit),
    });
  });

  it.each(REQUESTS)('sends every field by TypeScript: %s', async (_fields, limit) => {
    const sent = await printed(process.execPath, 'sample.mts', codeIn('TypeScript', limit));

    expect(sent).toEqual({ to: [`${publicUrl}/v1`, 'a-key'], request: requestOf(limit) });
  });

  (HAS_PYTHON ? it : it.skip).each(REQUESTS)(
    'sends every field by Python: %s',
    async (_fields, limit) => {
      const sent = await printed('python3', 'sample.py', codeIn('Python', limit));

      expect(sent).toEqual({ to: [`${publicUrl}/v1`, 'a-key'], request: requestOf(limit) });
    },
  );

  it('asks for no stream where the page does not either', () => {
    const samples = completionSamples({ publicUrl, request: firstRequest('a-model') });

    for (const [, code] of samples) expect(code).not.toContain('stream');
  });
});
