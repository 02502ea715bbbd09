import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TRIAL_FORMAT } from '../../worker/engine/formatTrial.ts';
import { TRIAL_TOOL } from '../../worker/engine/toolTrial.ts';

/** Answers one request, whose body is at hand. */
export type AnswerScript = (reply: Reply, body: Record<string, unknown>) => void | Promise<void>;

/** Answers a worker's own questions: trials of one token, and without a model that for its models. */
type TrialScript = (reply: Reply, model: string | undefined) => void | Promise<void>;

export type UpstreamServer = Awaited<ReturnType<typeof startUpstream>>;

const isFormatTrial = (body: Record<string, unknown>): boolean =>
  JSON.stringify(body.response_format) === JSON.stringify(TRIAL_FORMAT);

const isToolTrial = (body: Record<string, unknown>): boolean =>
  JSON.stringify(body.tool_choice ?? null).includes(`"${TRIAL_TOOL}`);

/** A small real chat-completions server. */
export async function startUpstream({ port = 0 } = {}) {
  const requests: { path: string; headers: IncomingHttpHeaders; body: Record<string, unknown> }[] =
    [];
  /** The models that were tried, in order; undefined for each request of the list of models. */
  const trials: (string | undefined)[] = [];
  let script: AnswerScript = (reply) => reply.refuse(500, {});
  let trialScript: TrialScript = (reply) => {
    reply.text('Hi');
    reply.complete('length');
  };
  let formatScript: AnswerScript = (reply) => reply.refuse(400, {});
  let toolScript: AnswerScript = formatScript;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString() || '{}');
    if (request.method === 'GET' || body.max_tokens === 1) {
      trials.push(body.model);
      await trialScript(createReply(response), body.model);
      return;
    }
    if (isFormatTrial(body)) return formatScript(createReply(response), body);
    if (isToolTrial(body)) return toolScript(createReply(response), body);
    requests.push({ path: request.url ?? '', headers: request.headers, body });
    await script(createReply(response), body);
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    /** Base address that ends with /v1. */
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    trials,
    answerTrialsWith(next: TrialScript): void {
      trialScript = next;
    },
    /** Sets how a worker's trial of `response_format` is answered, which is refused by default. */
    answerFormatTrialWith(next: AnswerScript): void {
      formatScript = next;
    },
    /** Sets how a worker's trial of tools is answered, which is refused by default. */
    answerToolTrialWith(next: AnswerScript): void {
      toolScript = next;
    },
    /** Sets how requests are answered from now on. */
    answerWith(next: AnswerScript): void {
      script = next;
    },
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** One reply of the upstream, event by event. */
export type Reply = ReturnType<typeof createReply>;

function createReply(response: ServerResponse) {
  /** Any lines at all, or their bytes. */
  function lines(text: string | Uint8Array): void {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text);
  }
  /** Any event data at all. */
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
    /** Status and headers other than those of a stream. */
    head: (status: number, headers: Record<string, string>) =>
      void response.writeHead(status, headers),
    /** A delta; its JSON may hold half a surrogate pair. */
    text: (content: string) => choice({ content }),
    /** A delta of calls, in the server's own form. */
    calls: (...tool_calls: object[]) => choice({ tool_calls }),
    /** All that ends an answer: the reason, its tokens where they are given, and the stream's end. */
    complete(reason: string, promptTokens?: number, completionTokens = 0): void {
      finish(reason);
      if (promptTokens !== undefined) usage(promptTokens, completionTokens);
      done();
      end();
    },
    /** Breaks the connection off; what was sent before arrives. */
    break: () => void response.socket?.end(),
    refuse(status: number, body: object): void {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    },
    /** Resolves when the worker has closed the connection. */
    closed: once(response, 'close'),
  };
}
