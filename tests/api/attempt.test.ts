import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { type AttemptOptions, runAttempt } from '../../api/jobs/attempt.ts';
import { checkProof } from '../../api/ledger/proof.ts';
import { answerCharactersMax } from '../../common/tokenizers/tokenCounts.ts';
import {
  type Json,
  proofMessage,
  requestCommitment,
  signHashed,
} from '../../programs/client/proof.ts';
import { type AnswerDetails, answerDetails, statementOf } from '../../programs/client/statement.ts';
import { TEXT_ALONE } from '../../testing/textAlone.ts';

const TEXT = 'Hello.';
const TOKEN_LIMIT = 10;
const key = () => Keypair.generate().publicKey;
const programId = key();
const job = key();
const worker = key();
const proofKey = Keypair.generate();
const requestSalt = randomBytes(32);
const chat = { model: 'm', messages: [{ role: 'user', content: 'Say hello.' }], stop: undefined };
const COMMITMENT = requestCommitment(requestSalt, { ...chat, token_limit: TOKEN_LIMIT });

/** What the worker of the reservation proves of a text, and signs with this key. */
function proofOf(
  text: string,
  { signer = proofKey, commitment = COMMITMENT, details = {} as Partial<AnswerDetails> } = {},
) {
  const proven = {
    outputHash: createHash('sha256').update(text).digest(),
    promptTokens: 1,
    completionTokens: 2,
  };
  const statement = statementOf({
    requestCommitment: commitment,
    answerDetails: answerDetails({ ...TEXT_ALONE, ...details }),
  });
  const message = proofMessage({
    ...{ programId, job, worker, attempt: 1 },
    ...{ ...proven, statement },
  });
  return { ...proven, signature: signHashed(message, signer) };
}

const FINISH = { type: 'finish', reason: 'stop', truncated: null };

/** How an attempt ends whose worker sends this text with that proof, and whether it is proven. */
async function attempt(
  proof: ReturnType<typeof proofOf>,
  text = TEXT,
  ending: readonly object[] = [FINISH],
  asked: object = chat,
  stopAt = 1n,
) {
  async function* ask() {
    if (text) yield [{ type: 'content', text }];
    yield [...ending, { type: 'proof', proof }];
  }
  const events = runAttempt({
    reservation: {
      worker: { address: worker.toBase58(), proof_key: proofKey.publicKey.toBase58() },
      observeFirstToken: () => undefined,
    },
    task: { jobAddress: job, attempt: 1, tokenLimit: TOKEN_LIMIT, chat: asked, requestSalt },
    workers: { submit: ask, stop: async () => undefined },
    clock: { nowSeconds: () => 0n, waitUntil: () => new Promise(() => undefined) },
    deadlines: { stopAt, proofDueAt: 1n },
    clientGone: new AbortController().signal,
  } as unknown as AttemptOptions);
  let next = await events.next();
  while (!next.done) next = await events.next();
  const end = next.value;
  const proven = end.kind === 'whole' && checkProof(end.answer, { programId, job });
  return { end, proven };
}

describe('a complete answer', () => {
  const answer = { text: TEXT, finishReason: 'stop', attempt: 1 };

  it('is proven when its worker has signed its hash', async () => {
    const proof = proofOf(TEXT);
    const { end, proven } = await attempt(proof);
    expect(end).toMatchObject({ kind: 'whole', answer: { ...answer, proof } });
    const halves = { requestCommitment: COMMITMENT, answerDetails: answerDetails(TEXT_ALONE) };
    expect(proven).toMatchObject({
      ...{ ...answer, ...halves },
      proof: { ...proof, statement: statementOf(halves) },
    });
  });

  it.each<[string, Uint8Array, Record<string, Json>, Keypair?]>([
    ['key', requestSalt, {}, Keypair.generate()],
    ['text of the request', requestSalt, { messages: [{ role: 'user', content: 'Say hello!' }] }],
    ['field', requestSalt, { temperature: 0 }],
    ['token limit', requestSalt, { token_limit: TOKEN_LIMIT + 1 }],
    ['salt', randomBytes(32), {}],
  ])('is not proven when its proof is of another %s', async (...[, salt, other, signer]) => {
    const asked = { ...chat, token_limit: TOKEN_LIMIT, ...other };
    const commitment = requestCommitment(salt, asked);
    const proof = proofOf(TEXT, { signer: signer ?? proofKey, commitment });
    const { end, proven } = await attempt(proof);
    expect(end.kind).toBe('whole');
    expect(proven).toBeUndefined();
  });

  it.each<[string, Partial<AnswerDetails>]>([
    ['finish reason', { finishReason: 'length' }],
    ['cut', { truncated: 'deadline' }],
    ['reasoning', { reasoning: 'Hm.' }],
    ['call of a tool', { toolCalls: [{ id: 'call_1', name: 'now', arguments: '{}' }] }],
  ])('is not proven when its proof is of another %s than was sent', async (_, details) => {
    const { end, proven } = await attempt(proofOf(TEXT, { details }));
    expect(end.kind).toBe('whole');
    expect(proven).toBeUndefined();
  });

  const cut: Partial<AnswerDetails> = { finishReason: 'length', truncated: 'deadline' };
  it.each([
    ['that says it was cut, and was not stopped', [{ ...FINISH, ...cut, reason: 'length' }]],
    ['without a finish reason', []],
  ])('is refused %s', async (_, ending) => {
    const { end } = await attempt(proofOf(TEXT, { details: cut }), TEXT, ending);
    expect(end).toMatchObject({ kind: 'failed', hasBegun: true });
  });

  it.each<[string, Partial<AnswerDetails>]>([
    ['that it cut', cut],
    ['whose end came with the stop', {}],
  ])('passes on as its worker signed it one %s', async (_, details) => {
    const said = { ...TEXT_ALONE, ...details };
    const { finishReason, truncated } = said;
    const ending = [{ type: 'finish', reason: finishReason, truncated }];
    const { proven } = await attempt(proofOf(TEXT, { details }), TEXT, ending, chat, 0n);
    const isTruncated = truncated !== null;
    expect(proven).toMatchObject({ finishReason, isTruncated, answerDetails: answerDetails(said) });
  });

  it.each([
    ['of another text', 'Good morning.', TEXT, { reason: 'output_mismatch', hasBegun: true }],
    ['without any text', '', '', { reason: 'empty_output', hasBegun: false }],
  ])('is not proven %s', async (_what, proven, text, expected) => {
    const { end } = await attempt(proofOf(proven), text);
    expect(end).toMatchObject({ kind: 'failed', ...expected });
  });

  it('may be as long as workers let it become, and fails beyond that', async () => {
    const longest = 'x'.repeat(answerCharactersMax(TOKEN_LIMIT));
    expect((await attempt(proofOf(longest), longest)).end.kind).toBe('whole');
    const longer = `${longest}x`;
    expect((await attempt(proofOf(longer), longer)).end).toMatchObject({
      ...{ kind: 'failed', reason: 'worker_error', cause: 'text_too_long' },
    });
  });
});

describe('an answer with calls', () => {
  const tool = (name: string) => ({ type: 'function', function: { name } });
  const asked = { ...chat, tools: [tool('now'), tool('look_up')] };
  const commitment = requestCommitment(requestSalt, { ...asked, token_limit: TOKEN_LIMIT });
  const call = (index: number, text: string, named: object = {}) => ({
    ...{ type: 'call', index, id: undefined, name: undefined, text },
    ...named,
  });
  const now = (index = 0, text = '') => call(index, text, { id: `call_${index}`, name: 'now' });
  const CALLED = { ...FINISH, reason: 'tool_calls' };
  const toolCalls = [
    { id: 'call_0', name: 'now', arguments: '{"at":1}' },
    { id: 'call_1', name: 'now', arguments: '{}' },
  ];
  const pieces = [now(0), call(0, '{"at"'), now(1, '{}'), call(0, ':1}')];
  const ending = async (
    events: readonly object[],
    { text = '', details = {}, choice = null as unknown } = {},
  ) => {
    const chosen = choice === null ? asked : { ...asked, tool_choice: choice };
    const proof = proofOf(text, { commitment, details: { toolCalls, ...details } });
    return attempt(proof, text, events, chosen);
  };

  it.each(['', 'Let me see.'])('is proven with its text %j, by their order', async (text) => {
    const details = { finishReason: 'tool_calls' };
    const { end, proven } = await ending([...pieces, CALLED], { text, details });
    expect(end).toMatchObject({ kind: 'whole', answer: { text, toolCalls } });
    expect(proven).toMatchObject({ finishReason: 'tool_calls', toolCalls });
    const others = [
      { ...details, toolCalls: toolCalls.toReversed() },
      { ...details, toolCalls: [] },
    ];
    for (const other of others) {
      const { proven } = await ending([...pieces, CALLED], { text, details: other });
      expect(proven).toBeUndefined();
    }
  });

  it.each<[string, readonly object[], string, unknown]>([
    ['begins another before its turn', [now(1)], 'a call before its turn', null],
    ['goes on with what never began', [call(0, '{}')], 'a call named amiss', null],
    ['names a call that began', [call(0, '', { id: 'x' })], 'a call named amiss', null],
    ['has no id', [call(0, '', { name: 'now' })], 'a call named amiss', null],
    ['has no name', [call(0, '', { id: 'call_0' })], 'a call named amiss', null],
    [
      'has an id without a letter',
      [call(0, '{}', { id: '', name: 'now' })],
      'a call named amiss',
      null,
    ],
    ['calls no tool', [call(0, '', { id: 'x', name: 'other' })], 'a call of no offered tool', null],
    ['calls another than it has to', [now(0)], 'a call of no offered tool', tool('look_up')],
    ['calls one though it may not', [now(0)], 'a call of no offered tool', 'none'],
  ])('fails before its first word where it %s', async (_what, events, cause, choice) => {
    const { end } = await ending([...events, CALLED], { choice });
    expect(end).toMatchObject({ kind: 'failed', reason: 'worker_error', hasBegun: false, cause });
  });

  it.each<[string, readonly object[], unknown]>([
    ['stop', [...pieces, FINISH], null],
    ['a call that is none', [CALLED], null],
    ['a whole one without a call, though it had to', [FINISH], 'required'],
    ['a whole one without that call', [FINISH], tool('now')],
  ])('fails where its finish reason says: %s', async (_what, events, choice) => {
    const { end } = await ending(events, { text: TEXT, choice });
    expect(end).toMatchObject({ kind: 'failed', reason: 'worker_error', hasBegun: true });
  });

  it('has at most as many calls as a conversation may hold', async () => {
    const called = (count: number) => Array.from({ length: count }, (_, index) => now(index));
    expect((await ending([...called(128), CALLED])).end.kind).toBe('whole');
    expect((await ending([...called(129), CALLED])).end).toMatchObject({ cause: 'too many calls' });
  });

  it('may be cut by its limit, before its call or within it', async () => {
    const cut = { ...FINISH, reason: 'length' };
    const within = await ending([now(0), call(0, '{"a'), cut]);
    expect(within.end).toMatchObject({
      kind: 'whole',
      answer: { text: '', toolCalls: [{ arguments: '{"a' }], finishReason: 'length' },
    });
    const before = await ending([cut], { text: TEXT, choice: 'required' });
    expect(before.end.kind).toBe('whole');
  });

  it('is as long as its text, names and arguments', async () => {
    const most = answerCharactersMax(TOKEN_LIMIT) - TEXT.length - 'now'.length;
    const long = (length: number) =>
      ending([now(0), call(0, 'x'.repeat(length)), CALLED], { text: TEXT });
    expect((await long(most)).end.kind).toBe('whole');
    expect((await long(most + 1)).end).toMatchObject({ cause: 'text_too_long' });
  });
});
