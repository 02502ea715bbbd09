import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Agent, request } from 'undici';
import { createLogger } from '../../common/logger.ts';
import { estimateTokens } from '../../common/tokenizers/tokenCounts.ts';
import { costMetrics, serve } from '../servers.ts';

// What a gateway does that meters and proves nothing: it reads every part of the answer, counts its
// tokens and writes a log line. It checks no key, keeps nothing, and has one upstream.

interface Answer {
  readonly choices: readonly {
    readonly delta?: { readonly content?: string };
    readonly message?: { readonly content: string };
  }[];
}

const upstream = process.env.BENCH_UPSTREAM_URL ?? '';
const dispatcher = new Agent();
const logger = createLogger({ name: 'gateway', level: 'info' });
const DONE = '[DONE]';

const server = createServer((incoming, response) => {
  if (incoming.url === '/metrics') return void response.end(costMetrics());
  // A gateway that loses an answer ends, because its figures would be meaningless.
  void answer(incoming, response);
});

async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = JSON.parse(await text(incoming)) as { model: string; stream: boolean };
  const { statusCode, headers, body } = await request(`${upstream}/chat/completions`, {
    method: 'POST',
    dispatcher,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(asked),
  });
  const type = String(headers['content-type']);
  response.writeHead(statusCode, { 'content-type': type });
  let said = '';
  const pass = (part: string): string => {
    const parsed = JSON.parse(part) as Answer;
    const [choice] = parsed.choices;
    said += choice?.delta?.content ?? choice?.message?.content ?? '';
    return JSON.stringify(parsed);
  };
  if (asked.stream) {
    let rest = '';
    for await (const chunk of body.setEncoding('utf8')) {
      const events = (rest + chunk).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        const data = event.slice('data: '.length);
        response.write(`data: ${data === DONE ? DONE : pass(data)}\n\n`);
      }
    }
    response.end();
  } else response.end(pass(await body.text()));
  const { model } = asked;
  logger.info({ msg: 'Answered', model, completion_tokens: estimateTokens(said), statusCode });
}

await serve(server, '/v1');
