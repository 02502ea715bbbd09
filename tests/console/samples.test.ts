import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type CompletionRequest,
  completionSamples,
  firstRequest,
} from '../../console/data/samples.ts';
import { needs } from '../../testing/machine/needs.ts';
import { bashOn } from '../../testing/machine/shell.ts';

const run = promisify(execFile);

/** Sends what the official client at version 3 sends: test:long clients compares them. */
const PYTHON_CLIENT = `
import json
import urllib.request
class OpenAI:
    def __init__(self, base_url, api_key):
        self.url, self.key = base_url + "/chat/completions", api_key
        self.chat = self.completions = self
    def create(self, *, model, messages, stream=None, extra_body={}, **options):
        first = {"model": model} | ({} if stream is None else {"stream": stream}) | {"messages": messages}
        request = first | dict(sorted(options.items())) | extra_body
        body = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {"Authorization": "Bearer " + self.key}
        urllib.request.urlopen(urllib.request.Request(self.url, body, headers)).read()
        return []
`;

const HARD = `It's "two" lines\nwith \\ $HOME \`id\` 'quotes' and ünïcode 😀 \u2028\u0001\u007f.`;
const PARAMETERS = { additionalProperties: false, default: null, title: HARD, uniqueItems: true };
const TOOL = { type: 'function', function: { name: 'a_tool', parameters: PARAMETERS } } as const;
const REQUESTS = [
  ['every field', 256],
  ['model and messages', undefined],
] as const;

const requestOf = (limit: number | undefined): CompletionRequest => ({
  model: 'a-model',
  stream: true,
  messages: [
    { role: 'system', content: HARD },
    { role: 'user', content: `${HARD} And so on.` },
    {
      ...{ role: 'assistant', content: null },
      tool_calls: [
        { id: 'c', type: 'function', function: { name: 'a_tool', arguments: '{"is":null}' } },
      ],
    },
    { role: 'tool', content: 'true "false" null', tool_call_id: 'c' },
  ],
  ...(limit !== undefined && {
    max_tokens: limit,
    seed: -9_007_199_254_740_991,
    stop: ['\n\n', HARD],
    temperature: 0.7,
    tool_choice: { type: 'function', function: { name: 'a_tool' } },
    tools: [TOOL],
    top_p: 1,
    max_credits: 2,
  }),
});

describe('the code that the pages show', () => {
  let folder: string;
  let server: Server;
  const received: { to: (string | undefined)[]; body: string }[] = [];
  let publicUrl: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-samples-'));
    writeFileSync(join(folder, 'openai.py'), PYTHON_CLIENT);
    symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'));
    server = createServer(async (request, response) => {
      const to = [`${publicUrl}${request.url}`, request.headers.authorization];
      received.push({ to, body: await readText(request) });
      response.setHeader('content-type', 'text/event-stream').end('data: [DONE]\n\n');
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
  const runCode = async (program: string, name: string, code: string) => {
    writeFileSync(join(folder, name), code);
    await run(program, [join(folder, name)]);
  };
  const expectBytes = (limit: number | undefined) =>
    expect(received.at(-1)).toEqual({
      to: [`${publicUrl}/v1/chat/completions`, 'Bearer a-key'],
      body: JSON.stringify(requestOf(limit)),
    });

  needs('curl').it.each(REQUESTS)('sends the same bytes by curl: %s', async (_fields, limit) => {
    await run(...bashOn(codeIn('curl', limit)));

    expectBytes(limit);
  });

  it.each(REQUESTS)('sends the same bytes by TypeScript: %s', async (_fields, limit) => {
    await runCode(process.execPath, 'sample.mts', codeIn('TypeScript', limit));

    expectBytes(limit);
  });

  needs('python3').it.each(REQUESTS)(
    'sends the same bytes by Python: %s',
    async (_fields, limit) => {
      await runCode('python3', 'sample.py', codeIn('Python', limit));

      expectBytes(limit);
    },
  );

  it('asks for no stream where the page does not either', () => {
    const samples = completionSamples({ publicUrl, request: firstRequest('a-model') });

    for (const [, code] of samples) expect(code).not.toContain('stream');
  });
});
