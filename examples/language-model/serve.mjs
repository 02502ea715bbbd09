// A language model as a chat-completions server; README.md says how to get one.
//   node serve.mjs SmolLM2-135M-Instruct.Q4_1.gguf
import { createServer } from 'node:http';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import { complete, stream } from './answers.mjs';
import { openModel } from './model.mjs';
import { ChatError, parseChat } from './request.mjs';

const { PORT = '11400', SLOTS = '2', THREADS = '1' } = process.env;
const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('Usage: node serve.mjs <file.gguf>');
const name = basename(file, '.gguf');
const model = await openModel({ file, capacity: Number(SLOTS), threads: Number(THREADS) });

const server = createServer((request, response) => {
  answer(request, response).catch((error) => fail(response, error));
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`${name} at http://127.0.0.1:${server.address().port}/v1`);
});

async function answer(request, response) {
  const route = `${request.method} ${request.url}`;
  if (route === 'GET /v1/models') {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ object: 'list', data: [{ id: name, object: 'model' }] }));
    return;
  }
  if (route !== 'POST /v1/chat/completions') {
    refuse(
      response,
      404,
      new ChatError('There are only GET /v1/models and POST /v1/chat/completions'),
    );
    return;
  }
  const chat = parseChat(await text(request));
  const left = new AbortController();
  response.once('close', () => left.abort(new Error('The client left')));
  const generate = (onText) => model.generate(chat, { onText, signal: left.signal });
  if (chat.isStream) await stream(response, name, chat.includeUsage, generate);
  else await complete(response, name, generate);
}

function fail(response, error) {
  if (response.closed) return;
  if (error instanceof ChatError) {
    refuse(response, 400, error);
    return;
  }
  console.error(error);
  if (response.headersSent) response.destroy();
  else refuse(response, 500, new ChatError('The model failed', { code: 'internal_error' }));
}

function refuse(response, status, { message, code, param }) {
  const type = status === 500 ? 'server_error' : 'invalid_request_error';
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type, param, code } }));
}
