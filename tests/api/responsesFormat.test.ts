import { describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { createResponsesParser } from '../../api/contracts/responses.ts';
import { responseObject } from '../../api/contracts/responsesAnswer.ts';
import { examples } from '../../api/docs/examples.ts';
import type { AnswerResult } from '../../api/response/delivery.ts';
import { createResponsesFormat } from '../../api/response/responsesFormat.ts';
import { addToCalls, type Piece } from '../../api/workers/events.ts';
import type { ToolCall } from '../../programs/client/statement.ts';
import { readAnswer } from '../../programs/client/verify/answer/readAnswer.ts';
import { createRandom, type Random } from '../../testing/random.ts';
import { USAGE } from './keptCopy.ts';

const random = createRandom();
const ANSWERS = 100;
const { svc } = examples.ChatCompletion;
const JOB = svc.job_id;
const identity = {
  ...{ jobId: JOB, wallet: 'wallet', modelId: 'm', created: 1 },
  ...{ escrowTx: 'lock', requestSalt: 'ab' },
};
const { echo } = createResponsesParser({ tools: true })({ model: 'm', input: 'Hi.' });
const format = createResponsesFormat(echo);

/** What a worker may send: text, reasoning and calls in turns, of which an earlier call may go on. */
function drawPieces(random: Random): Piece[] {
  const text = () => ['a', 'Ü', '\n', '\u2028', '{"', ''][random.below(6)] as string;
  let calls = 0;
  return Array.from({ length: random.below(9) }, (): Piece => {
    const kind = random.below(4);
    if (kind < 2) return { type: kind === 0 ? 'content' : 'reasoning', text: `${text()}.` };
    if (calls > 0 && kind === 2) return { type: 'call', index: random.below(calls), text: text() };
    calls += 1;
    return { type: 'call', index: calls - 1, id: `call_${calls}`, name: 'f', text: text() };
  });
}

/** What these pieces are together, and how they may end. */
function meantBy(pieces: readonly Piece[]) {
  const said = { content: '', reasoning: '' };
  const toolCalls: ToolCall[] = [];
  for (const piece of pieces) {
    if (piece.type === 'call') addToCalls(toolCalls, piece);
    else said[piece.type] += piece.text;
  }
  const whole = toolCalls.length > 0 ? 'tool_calls' : 'stop';
  const finishReason = ([whole, 'length', 'content_filter'] as const)[random.below(3)] ?? whole;
  return { text: said.content, reasoning: said.reasoning, toolCalls, finishReason };
}

const endOf = (finishReason: AnswerResult['finishReason']): AnswerResult => ({
  ...{ finishReason, isTruncated: false, completedAt: 3, usage: USAGE, creditsCharged: 8 },
});

function plainOf(pieces: readonly Piece[], result: AnswerResult) {
  const body = format.plain(identity);
  body.write({ type: 'content', text: 'of a worker that failed' });
  body.discard();
  for (const piece of pieces) body.write(piece);
  return responseObject.parse(body.bodyOf(result, svc));
}

function streamOf(pieces: readonly Piece[], result: AnswerResult): string {
  const events = format.stream(identity);
  const begun = events.begin() + pieces.map(events.write).join('');
  return `${begun}${events.finish(result, svc)}data: [DONE]\n\n`;
}

const clientOf = (stream: string) => {
  const headers = { 'content-type': 'text/event-stream' };
  const fetch = async () => new Response(stream, { headers });
  return new OpenAI({ apiKey: 'key', maxRetries: 0, fetch });
};

describe(`an answer of responses (seed ${random.seed})`, () => {
  it(`is what its worker sent, to clients and verifiers, ${ANSWERS} drawn ones`, async () => {
    for (let count = 0; count < ANSWERS; count += 1) {
      const pieces = drawPieces(random);
      const { text, reasoning, toolCalls, finishReason } = meantBy(pieces);
      const plain = plainOf(pieces, endOf(finishReason));
      const stream = streamOf(pieces, endOf(finishReason));
      for (const saved of [JSON.stringify(plain), stream]) {
        const read = readAnswer(saved);
        expect([read.jobId, read.text, read.details]).toEqual([
          JOB,
          text,
          { finishReason, truncated: null, reasoning, toolCalls },
        ]);
      }
      const client = clientOf(stream).responses.stream({ model: 'm', input: 'Hi.' });
      const numbers: number[] = [];
      client.on('event', ({ sequence_number }) => numbers.push(sequence_number));
      const final = await client.finalResponse();
      expect(final.output_text).toBe(text);
      expect(final.output).toMatchObject(plain.output);
      expect(numbers).toEqual(numbers.map((_number, at) => at));
    }
  });

  it('is incomplete at the last item of one that was cut, and whole before it', () => {
    const pieces: Piece[] = [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'content', text: 'Wait.' },
      { type: 'call', index: 0, id: 'a', name: 'f', text: '{' },
    ];
    const { status, incomplete_details, output } = plainOf(pieces, endOf('length'));
    expect([status, incomplete_details]).toEqual(['incomplete', { reason: 'max_output_tokens' }]);
    expect(output.map((item) => [item.type, item.status])).toEqual([
      ['reasoning', 'completed'],
      ['message', 'completed'],
      ['function_call', 'incomplete'],
    ]);
  });

  it('has an empty message where there is neither text nor call', () => {
    expect(plainOf([], endOf('stop')).output).toMatchObject([
      { type: 'message', status: 'completed', content: [{ text: '' }] },
    ]);
  });

  it('that fails behind its beginning is an error to its client', async () => {
    const events = format.stream(identity);
    const begun = events.begin() + events.write({ type: 'content', text: 'Wai' });
    const error = {
      code: 'worker_failed',
      message: 'No.',
      type: 'server_error',
      param: null,
      docs: 'x',
    };
    const ended = events.fail({ error, svc: { job_id: JOB, verify_url: svc.verify_url } } as never);
    const stream = begun + ended;
    const asked = clientOf(stream).responses.create({ model: 'm', input: 'Hi.', stream: true });
    const reading = asked.then(async (read) => {
      for await (const { type } of read) expect(type).not.toBe('response.completed');
    });
    await expect(reading).rejects.toMatchObject({ code: 'worker_failed' });
    const [, last = '{}'] = /data: (.*)\n\n$/.exec(stream) ?? [];
    expect(JSON.parse(last)).toMatchObject({
      type: 'response.failed',
      response: {
        ...{ status: 'failed', error: { code: 'worker_failed', message: 'No.' } },
        output: [{ type: 'message', status: 'in_progress', content: [{ text: 'Wai' }] }],
      },
    });
    expect(readAnswer(stream)).toMatchObject({ jobId: JOB, text: undefined });
  });
});
