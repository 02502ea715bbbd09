import {
  type AnswerDetails,
  type ToolCall,
  toolCallsAsJson,
} from '../../../programs/client/statement.ts';
import { asStream, eventsOf, responseOf } from '../responsesForms.ts';
import type { AnsweredJob } from './answeredJob.ts';

/** How clients keep an answer: each form is read to the same text and evidence. */
export const SAVED_FORMS: Readonly<Record<string, (answer: AnsweredJob) => string>> = {
  'a plain answer': (answer) => JSON.stringify(plain(answer)),
  'a plain answer, indented, with a line end': (answer) =>
    `${JSON.stringify(plain(answer), null, 2)}\n`,
  'a plain answer with its headers': (answer) =>
    `${HEADERS.replace('text/event-stream', 'application/json')}${JSON.stringify(plain(answer))}`,
  'a plain answer behind a byte order mark': (answer) => `\ufeff${JSON.stringify(plain(answer))}`,
  'a stream': (answer) => events(chunks(answer)),
  'a stream with usage': (answer) => events([...chunks(answer), usageChunk(answer)]),
  'a stream with its headers': (answer) => `${HEADERS}${events(chunks(answer))}`,
  'a stream with an early status': (answer) =>
    `HTTP/1.1 100 Continue\r\n\r\n${HEADERS}${events(chunks(answer))}`,
  'a stream with its trailers': (answer) =>
    `${events(chunks(answer))}x-svc-credits-remaining: 12\r\nx-svc-output-hash: ${answer.svc.output_hash}\r\n`,
  'a stream with CR LF': (answer) => events(chunks(answer)).replaceAll('\n', '\r\n'),
  'a stream without [DONE] and last line end': (answer) =>
    events(chunks(answer)).replace(/\n\ndata: \[DONE\]\n\n$/, ''),
  'a stream with comments and other fields': (answer) =>
    `: connected\n\n${events(chunks(answer)).replaceAll('data:', 'event: message\nid: 1\ndata:')}`,
  'a stream without spaces behind data:': (answer) =>
    events(chunks(answer)).replaceAll('data: ', 'data:'),
  'a stream with an earlier svc': (answer) => {
    const [first, ...rest] = chunks(answer);
    const early = { ...answer.svc, output_hash: null, credits_charged: null };
    return events([{ ...first, svc: early, usage: null }, ...rest]);
  },
  'a stream with an event of a name': (answer) =>
    `event: ping\ndata: {}\n\n${events(chunks(answer))}`,
  'chunks as a list': (answer) => JSON.stringify(chunks(answer)),
  'chunks as lines of JSON': (answer) =>
    `${chunks(answer)
      .map((chunk) => JSON.stringify(chunk))
      .join('\n')}\n`,
  'chunks, indented, one behind the other': (answer) =>
    chunks(answer)
      .map((chunk) => JSON.stringify(chunk, null, 2))
      .join('\n'),
  'an answer of responses': (answer) => JSON.stringify(response(answer)),
  'a stream of responses': (answer) =>
    asStream(eventsOf(response(answer), (text) => text.match(/.{1,24}/gsu) ?? [])),
};

const response = ({ text, details, svc, body, ...answer }: AnsweredJob) =>
  responseOf({
    ...{ jobId: String(svc.job_id), model: body.model, text, details, svc },
    ...{ usage: usageOf({ ...answer, svc }), cost: svc.usdc_value },
  });

const HEADERS =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nx-svc-worker: x\r\n\r\n';

/** With other statements of the job. */
export const withSvc = (answer: AnsweredJob, changed: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ ...plain(answer), svc: { ...answer.svc, ...changed } });

/** Which ends otherwise, or holds something else beside its text. */
export const withDetails = (answer: AnsweredJob, changed: Partial<AnswerDetails>): string =>
  JSON.stringify(plain({ ...answer, details: { ...answer.details, ...changed } }));

/** With other statements of its tokens and cost. */
export const withUsage = (answer: AnsweredJob, changed: object): string =>
  JSON.stringify({ ...plain(answer), usage: { ...usageOf(answer), ...changed } });

/** A stream with another part behind the last one. */
export const withLatePart = (answer: AnsweredJob, part: object): string =>
  events([...chunks(answer), usageChunk(answer), part]);

/** With another text, as somebody may have changed it. */
export const withText = (answer: AnsweredJob, text: string): string =>
  JSON.stringify(plain({ ...answer, text }));

function head({ svc, body }: AnsweredJob, object: string) {
  return { id: `chatcmpl-${svc.job_id}`, object, created: 1_795_800_000, model: body.model };
}

function plain(answer: AnsweredJob) {
  const { text, details, svc } = answer;
  const { reasoning, toolCalls } = details;
  const message = {
    role: 'assistant',
    content: text,
    ...(reasoning && { reasoning_content: reasoning }),
    ...(toolCalls.length > 0 && { tool_calls: toolCallsAsJson(toolCalls) }),
  };
  return {
    ...head(answer, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: details.finishReason }],
    usage: usageOf(answer),
    svc,
  };
}

const usageOf = ({ answering: { tokens = 0 }, svc }: Pick<AnsweredJob, 'answering' | 'svc'>) => ({
  ...{ prompt_tokens: 10, completion_tokens: tokens - 1, total_tokens: tokens + 9 },
  ...{ cost: svc.usdc_value, completion_tokens_details: { reasoning_tokens: 0 } },
});

/** Role, reasoning, content in pieces of a few characters, finish reason. */
function chunks(answer: AnsweredJob): object[] {
  const { text, details, svc } = answer;
  const { reasoning, finishReason, toolCalls } = details;
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head(answer, 'chat.completion.chunk'),
    choices: [{ index: 0, delta, finish_reason }],
  });
  const pieces = [...text].reduce<string[]>((all, character, at) => {
    if (at % 24 === 0) all.push('');
    all[all.length - 1] += character;
    return all;
  }, []);
  return [
    chunk({ role: 'assistant' }),
    ...(reasoning ? [chunk({ reasoning_content: reasoning })] : []),
    ...pieces.map((content) => chunk({ content })),
    ...toolCalls.flatMap((call, index) => callDeltas(call, index).map((delta) => chunk(delta))),
    { ...chunk({}, finishReason), svc },
  ];
}

/** First its id and name, then its arguments in pieces. */
function callDeltas(call: ToolCall, index: number): object[] {
  const [begun] = toolCallsAsJson([{ ...call, arguments: '' }]);
  const pieces = call.arguments.match(/.{1,16}/gsu) ?? [];
  const more = pieces.map((piece) => ({ index, function: { arguments: piece } }));
  return [{ index, ...begun }, ...more].map((one) => ({ tool_calls: [one] }));
}

const usageChunk = (answer: AnsweredJob) => ({
  ...head(answer, 'chat.completion.chunk'),
  ...{ choices: [], usage: usageOf(answer) },
});

const events = (values: readonly object[]): string =>
  `${values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('')}data: [DONE]\n\n`;
