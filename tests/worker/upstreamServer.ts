import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One reply of the upstream, event by event. */
export interface Reply {
  /** A delta; its JSON may hold half a surrogate pair. */
  text(content: string): void;
  finish(reason: string): void;
  usage(promptTokens: number, completionTokens: number): void;
  done(): void;
  /** All that ends an answer: the reason, its tokens where they are given, and the stream's end. */
  complete(reason: string, promptTokens?: number, completionTokens?: number): void;
  /** Any event data at all. */
  raw(data: string): void;
  /** Status and headers other than those of a stream. */
  head(status: number, headers: Record<string, string>): void;
  /** Any lines at all, or their bytes. */
  lines(text: string | Uint8Array): void;
  end(): void;
  /** Breaks the connection off; what was sent before arrives. */
  break(): void;
  refuse(status: number, body: object): void;
  /** Resolves when the worker has closed the connection. */
  closed: Promise<unknown>;
}

/** Answers one request, whose body is at hand. */
export type AnswerScript = (reply: Reply, body: Record<string, unknown>) => void | Promise<void>;

export interface UpstreamServer {
  /** Base address that ends with /v1. */
  url: string;
  requests: { path: string; headers: IncomingHttpHeaders; body: Record<string, unknown> }[];
  /** Sets how requests are answered from now on. */
  answerWith(script: AnswerScript): void;
  /** Sets how a worker's own questions are answered: trials of one token, and for its models. */
  answerTrialsWith(script: (reply: Reply, model: string | undefined) => void | Promise<void>): void;
  /** The models that were tried, in order; undefined for each request of the list of models. */
  trials: (string | undefined)[];
  close(): void;
}

/** A small real chat-completions server. */
export async function startUpstream({ port = 0 } = {}): Promise<UpstreamServer> {
  const requests: UpstreamServer['requests'] = [];
  const trials: UpstreamServer['trials'] = [];
  let script: AnswerScript = (reply) => reply.refuse(500, {});
  let trialScript: Parameters<UpstreamServer['answerTrialsWith']>[0] = (reply) => {
    reply.text('Hi');
    reply.complete('length');
  };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString() || '{}');
    if (request.method === 'GET' || body.max_tokens === 1) {
      trials.push(body.model);
      await trialScript(createReply(response), body.model);
      return;
    }
    requests.push({ path: request.url ?? '', headers: request.headers, body });
    await script(createReply(response), body);
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    trials,
    answerTrialsWith: (next) => {
      trialScript = next;
    },
    answerWith: (next) => {
      script = next;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function createReply(response: ServerResponse): Reply {
  function lines(text: string | Uint8Array): void {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text);
  }
  const raw = (data: string): void => lines(`data: ${data}\n\n`);
  const choice = (delta: object, finish_reason: string | null = null) =>
    raw(JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] }));
  const finish = (reason: string) => choice({}, reason);
  const usage = (prompt_tokens: number, completion_tokens: number) =>
    raw(JSON.stringify({ choices: [], usage: { prompt_tokens, completion_tokens } }));
  const done = () => raw('[DONE]');
  const end = () => void response.end();
  return {
    ...{ lines, raw, finish, usage, done, end },
    head: (status, headers) => void response.writeHead(status, headers),
    text: (content) => choice({ content }),
    complete(reason, promptTokens, completionTokens = 0) {
      finish(reason);
      if (promptTokens !== undefined) usage(promptTokens, completionTokens);
      done();
      end();
    },
    break: () => void response.socket?.end(),
    refuse(status, body) {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    },
    closed: once(response, 'close'),
  };
}
