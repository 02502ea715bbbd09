import { createServer, type IncomingMessage } from 'node:http';
import { costMetrics, serve, WORDS } from './servers.ts';

// A bare chat-completions server that answers at once, so that the difference to it is the path.

const server = createServer(async (request, response) => {
  if (request.url === '/metrics') return void response.end(costMetrics());
  // A worker asks for its models, and does without.
  if (request.method !== 'POST') return void response.writeHead(404).end();
  const { stream } = JSON.parse(await readBody(request)) as { stream?: boolean };
  const base = { id: 'chatcmpl-bench', created: 0, model: 'bench' };
  const usage = { prompt_tokens: 8, completion_tokens: WORDS.length, total_tokens: 28 };
  if (!stream) {
    const message = { role: 'assistant', content: WORDS.join('') };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...base, object: 'chat.completion', choices, usage }));
    return;
  }
  response.setHeader('content-type', 'text/event-stream');
  const send = (choices: object[], more = {}) => {
    const chunk = { ...base, object: 'chat.completion.chunk', choices, ...more };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  send([{ index: 0, delta: { role: 'assistant' }, finish_reason: null }]);
  for (const content of WORDS) send([{ index: 0, delta: { content }, finish_reason: null }]);
  send([{ index: 0, delta: {}, finish_reason: 'stop' }]);
  send([], { usage });
  response.end('data: [DONE]\n\n');
});

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

await serve(server, '/v1');
