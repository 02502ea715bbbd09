import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../common/logger.ts';
import { canonicalJson, requestCommitment } from '../../programs/client/proof.ts';
import { type AnswerDetails, answerDetails, statementOf } from '../../programs/client/statement.ts';
import { TEXT_ALONE } from '../../testing/textAlone.ts';
import { createBuiltinEngine } from '../../worker/engine/builtin.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { codeBlocks, type Document, readDocuments } from '../docs/documents.ts';
import { readAnswer } from './events.ts';
import { CHAT, openScene, outcomeOf, SALT, type Scene, TOKEN_LIMIT } from './scene.ts';

const builtin = createBuiltinEngine({ tokenDelayMs: 0 });
const logged: string[] = [];
/** What the engine was given. */
let asked: unknown[];
let scene: Scene;

const engine: Engine = {
  kind: 'builtin',
  generate(chat, limits) {
    asked.push(chat);
    return builtin.generate(chat, limits);
  },
};

beforeAll(async () => {
  const into = { write: (line: string) => void logged.push(line) };
  const logger = createLogger({ name: 'worker', level: 'trace', into });
  scene = await openScene({ engine, logger });
});
beforeEach(() => {
  asked = [];
});
afterAll(() => scene.close());

describe('a proof', () => {
  it('commits to every field of the request, also to one that is dropped', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.', name: 'rule' },
      { role: 'user', content: 'Grüße 🎉\n"\u2028' },
    ];
    const known = { temperature: 0.7, stop: ['END'], logit_bias: { 10: 1e-7, 9: 2 } };
    const unknown = { a_field_from_the_future: { b: [1, null, -0], a: true } };
    const chat = { ...CHAT, ...known, ...unknown, messages };
    const job = await scene.lock();
    const { proof } = await readAnswer(await scene.ask(job, { chat }));
    const commitment = requestCommitment(SALT, { ...chat, token_limit: TOKEN_LIMIT });
    expect(scene.isSigned(job, proof, { commitment })).toBe(true);
    expect(asked).toEqual([
      { ...CHAT, ...known, messages: messages.map(({ role, content }) => ({ role, content })) },
    ]);
  });

  it('commits to tools, calls and results, which reach the engine as they came', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'tide', arguments: '{"at":1' } };
    const parameters = { type: 'object', properties: { at: { type: 'integer', x: null } }, y: [] };
    const chat = {
      model: CHAT.model,
      messages: [
        { role: 'assistant', content: '', tool_calls: [call] },
        { role: 'tool', content: 'high', tool_call_id: 'c1' },
        { role: 'user', content: 'Again.' },
      ],
      tools: [{ type: 'function', function: { name: 'tide', parameters, strict: null } }],
      tool_choice: { type: 'function', function: { name: 'tide' } },
      parallel_tool_calls: false,
    };
    const job = await scene.lock();
    const commitment = requestCommitment(SALT, { ...chat, token_limit: TOKEN_LIMIT });
    const { proof, calls, finishReason } = await readAnswer(await scene.ask(job, { chat }));
    const details = { finishReason, toolCalls: calls } as Partial<AnswerDetails>;
    expect(scene.isSigned(job, proof, { commitment, details })).toBe(true);
    expect(asked).toEqual([chat]);
  });

  it('leaves no salt in the log', async () => {
    const answer = await readAnswer(await scene.ask(await scene.lock()));
    expect(answer.proof).toBeDefined();
    expect(logged.join()).toContain('Proved a job');
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      expect(logged.join()).not.toContain(SALT.toString(encoding));
    }
  });
});

describe('the example of the protocol', () => {
  it('is what a worker computes', () => {
    const isProtocol = ({ path }: Document) => path === 'docs/worker-protocol.md';
    const document = readDocuments().find(isProtocol) as Document;
    const [body = '', canonical = ''] = codeBlocks(document, ['json']);
    const { chat, token_limit, request_salt } = JSON.parse(body);
    const asked = { ...chat, token_limit };
    expect(`${canonicalJson(asked)}\n`).toBe(canonical);
    const hash = createHash('sha256').update(canonicalJson(asked)).digest('hex');
    expect(document.text).toContain(`| sha256 | \`${hash}\` |`);
    const commitment = requestCommitment(Buffer.from(request_salt, 'hex'), asked);
    const hex = Buffer.from(commitment).toString('hex');
    expect(document.text).toContain(`| commitment | \`${hex}\` |`);
    const details = answerDetails(TEXT_ALONE);
    const statement = statementOf({ requestCommitment: commitment, answerDetails: details });
    for (const [what, bytes] of [
      ['answer details of `stop` alone', details],
      ['statement', statement],
    ] as const) {
      expect(document.text).toContain(`| ${what} | \`${Buffer.from(bytes).toString('hex')}\` |`);
    }
  });
});

describe('a request', () => {
  it.each([
    ['no salt', undefined],
    ['63 digits', '0'.repeat(63)],
    ['a digit beyond f', `${'0'.repeat(63)}g`],
  ])('is refused by the name of its salt where it has %s', async (_case, request_salt) => {
    const response = await scene.ask(await scene.lock(), { body: { request_salt } });
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: { code: 'invalid_request', message: 'Missing or malformed: request_salt' } },
    ]);
    expect(asked).toEqual([]);
  });

  it.each([
    ['a whole number beyond 2^53', { chat_template_kwargs: { budget: 2 ** 53 } }],
    ['one in a schema', { response_format: { type: 'json_schema', maximum: -1e20 } }],
    ['one in a field that is dropped', { a_field_from_the_future: 1e308 }],
    ['half of a character in its messages', { messages: [{ role: 'user', content: '\ud83d' }] }],
  ])('is refused before its engine starts where it has %s', async (_case, chat) => {
    const job = await scene.lock();
    expect(await outcomeOf(scene.ask(job, { chat }))).toBe('400 invalid_request');
    expect(asked).toEqual([]);
    // Its attempt is not used up.
    expect((await readAnswer(await scene.ask(job))).proof).toBeDefined();
  });
});
