import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { formatJobId, requestCommitment } from '../../programs/client/index.ts';
import { differenceOf } from '../../programs/client/verify/answer/nearTexts.ts';
import { readAnswer } from '../../programs/client/verify/answer/readAnswer.ts';
import { readRequest } from '../../programs/client/verify/answer/sentRequest.ts';
import { conclusionOf } from '../../programs/client/verify/conclusion.ts';
import {
  type ClientEvidence,
  evidenceIn,
} from '../../programs/client/verify/job/clientEvidence.ts';
import type { Evidence } from '../../programs/client/verify/job/evidence.ts';
import { gatherEvidence } from '../../programs/client/verify/job/gatherEvidence.ts';
import { verifyJob } from '../../programs/client/verify/job/verifyJob.ts';
import {
  addresses,
  createJobScene,
  type JobScene,
  type LockedJob,
  OUTPUT,
} from '../../testing/ledger/jobScene.ts';

const SALT = Buffer.alloc(32, 7);
const TOKEN_LIMIT = 2_000;
const MODEL = 'qwen3-8b';
/** All combinations of what differs, and no more. */
const TRIES_MAX = 150;
const QUESTION = 'Où est-il ?\nSay it at once.';
const SENT = {
  model: MODEL,
  messages: [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: QUESTION }] },
  ],
  ...{ temperature: 0.5, stop: 'END', max_tokens: TOKEN_LIMIT, stream: true, user: 'x' },
};
const sent = readRequest(JSON.stringify(SENT));
const { chat } = sent;
const BYTES = chat.messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);

let scene: JobScene;
let asked: Evidence;
let failed: Evidence;
let open: Evidence;
let refunded: Evidence;

beforeAll(async () => {
  scene = await createJobScene();
  const jobs = (await scene.lock({ count: 3, tokenLimit: TOKEN_LIMIT })) as LockedJob[];
  const [settled, given, locked] = jobs.map(({ address }) => address) as [
    LockedJob['address'],
    LockedJob['address'],
    LockedJob['address'],
  ];
  await scene.complete(settled, {
    requestCommitment: requestCommitment(SALT, { ...chat, token_limit: TOKEN_LIMIT }),
  });
  await scene.fail(given);
  const gather = (job: typeof settled) =>
    gatherEvidence({ connection: scene.ledger.connection, addresses, job });
  [asked, failed, open] = (await Promise.all([settled, given, locked].map(gather))) as [
    Evidence,
    Evidence,
    Evidence,
  ];
  await scene.wait(200);
  await scene.refund(locked);
  refunded = await gather(locked);
});

afterAll(async () => scene?.ledger.close());

function judge(evidence: Evidence, client: ClientEvidence) {
  const { checks } = verifyJob(evidence, client);
  const of = (rule: string) => checks.find(({ name }) => name === `delivery.${rule}`);
  return { of, ...conclusionOf(checks) };
}

describe('the text that a client has', () => {
  const proven = (text: string) => createHash('sha256').update(text).digest();
  /** The job as if this text had been proven. */
  const having = (text: string): Evidence => ({
    ...asked,
    transactions: asked.transactions.map((transaction) => ({
      ...transaction,
      events: transaction.events.map((event) =>
        event.name === 'JobCompleted'
          ? { ...event, data: { ...event.data, outputHash: proven(text) } }
          : event,
      ),
    })) as Evidence['transactions'],
  });
  const judgeText = (text: string, given: string | Uint8Array) =>
    judge(having(text), { output: Buffer.from(given) }).of('output');
  const TEXT = ' Où?\n\nHere,\nas “said”. ';

  it.each<[string, string, string]>([
    ['a newline at the end', TEXT, `${TEXT}\n`],
    ['a newline at the end', TEXT, `${TEXT}\r\n`],
    ['white space at the end', TEXT.trimEnd(), `${TEXT} \n\n`],
    ['white space at the start', TEXT.trimStart(), TEXT],
    ['white space at start and end', TEXT.trim(), TEXT],
    ['white space that is missing at the end', TEXT, TEXT.trimEnd()],
    ['white space that is missing at the end', `${TEXT}\n\n`, TEXT],
    ['white space that is missing at the start', TEXT, TEXT.trimStart()],
    ['line ends, CR LF for LF', TEXT, TEXT.replaceAll('\n', '\r\n')],
    ['line ends, LF for CR LF', 'a\r\nb\r\n', 'a\nb\n'],
    ['line ends, CR for LF', TEXT, TEXT.replaceAll('\n', '\r')],
    ['the Unicode normal form, which was NFC', TEXT, TEXT.normalize('NFD')],
    ['the Unicode normal form, which was NFD', TEXT.normalize('NFD'), TEXT],
    ['a byte order mark', TEXT, `\ufeff${TEXT}`],
    ['the escapes of JSON', TEXT, JSON.stringify(TEXT)],
    ['the escapes of JSON', TEXT, JSON.stringify(TEXT).slice(1, -1)],
    [
      'a byte order mark, and line ends, CR LF for LF, and a newline at the end',
      TEXT,
      `\ufeff${TEXT.replaceAll('\n', '\r\n')}\r\n`,
    ],
    [
      'the Unicode normal form, which was NFC, and white space that is missing at the end',
      TEXT,
      TEXT.normalize('NFD').trimEnd(),
    ],
  ])('differs from the proven one in %s', (what, text, given) => {
    expect(judgeText(text, given)).toMatchObject({
      verdict: 'fails',
      detail: `The text differs from the proven one only in this: ${what}.`,
    });
  });

  it.each([`${TEXT}x`, TEXT.toUpperCase(), 'Où?  Here, as “said”.', ''])(
    'differs in more than such things: %j',
    (given) => {
      expect(judgeText(TEXT, given)).toMatchObject({
        verdict: 'fails',
        detail: expect.stringMatching(/^the text's sha256 is [0-9a-f]{64}, not [0-9a-f]{64}\.$/),
      });
    },
  );

  it('is compared with few texts, each of the kinds once', () => {
    const tried: string[] = [];
    const given = ['\ufeff"e\u0301\\r\\n\u00e9" '];
    expect(differenceOf(given, ([text = '']) => !tried.push(text))).toBeUndefined();
    expect(tried.length).toBeLessThan(TRIES_MAX);
  });

  it('is compared at once where it has many marks in a row', () => {
    const marks = `a${'\u0301'.repeat(200_000)}${'\u0323'.repeat(200_000)}`;
    expect(judgeText(TEXT, marks)?.verdict).toBe('fails');
    const few = `a${'\u0301\u0323'.repeat(15)}`;
    expect(judgeText(few.normalize('NFC'), few)?.detail).toContain('which was NFC');
  });

  it('is the proven one as it came', () => {
    expect(judgeText(TEXT, TEXT)?.verdict).toBe('holds');
    expect(judgeText('\ufeffa', '\ufeffa')?.verdict).toBe('holds');
  });

  it('makes the job fail in no case', () => {
    expect(judge(asked, { output: Buffer.from(`${OUTPUT}\n`) })).toMatchObject({
      result: 'differs',
      title: 'The job holds. Your text is not the proven one.',
      sentence:
        'The node shows nothing that contradicts a rule. ' +
        'The text differs from the proven one only in this: a newline at the end.',
    });
  });
});

describe('the question that a client has', () => {
  const judgeRequest = (sent: object | string, salt: Uint8Array | undefined = SALT) => {
    const text = typeof sent === 'string' ? sent : JSON.stringify(sent);
    return judge(asked, { request: readRequest(text), salt });
  };
  const [first, second] = SENT.messages;

  it.each<[string, object | string]>([
    ['as it was sent', SENT],
    ['with white space', JSON.stringify(SENT, null, 3)],
    ['with its fields in another order', Object.fromEntries(Object.entries(SENT).reverse())],
    [
      'with a system message for the developer',
      { ...SENT, messages: [{ ...first, role: 'system' }, second] },
    ],
    [
      'with a text for its parts',
      { ...SENT, messages: [first, { role: 'user', content: QUESTION }] },
    ],
    [
      'with what the service keeps to itself',
      { ...SENT, stream: false, max_credits: 9, seed: null },
    ],
    ['with a list of one stop sequence', { ...SENT, stop: ['END'] }],
  ])('is the proven one %s', (_how, sent) => {
    const { of, result } = judgeRequest(sent);
    expect([of('request')?.verdict, result]).toEqual(['holds', 'holds']);
    expect(of('request')?.evidence).toHaveLength(2);
  });

  const changed: [string, object, RegExp][] = [
    ['message', { messages: [first, { role: 'user', content: 'Where?' }] }, /commitment/],
    ['parameter', { temperature: 0.6 }, /commitment/],
    ['further parameter', { top_k: 3 }, /commitment/],
    ['missing parameter', { stop: null }, /commitment/],
    ['role', { messages: [first, { ...second, role: 'assistant' }] }, /commitment/],
    ['order of messages', { messages: [second, first] }, /commitment/],
    ['missing message', { messages: [second] }, /commitment/],
    ['model', { model: 'qwen3-14b' }, /^The request names the model qwen3-14b, .* for qwen3-8b\.$/],
    [
      'line end',
      { messages: [first, { role: 'user', content: QUESTION.replace('\n', '\r\n') }] },
      /^The messages differ from the proven ones only in this: line ends, CR LF for LF\.$/,
    ],
    [
      'text that spells half of a character',
      { messages: [first, { role: 'user', content: 'the regex \\ud800 of it' }] },
      /commitment/,
    ],
    [
      'normal form',
      { messages: [first, { role: 'user', content: QUESTION.normalize('NFD') }] },
      /only in this: the Unicode normal form, which was NFC\.$/,
    ],
  ];
  it.each(changed)('is another one with another %s', (_what, change, detail) => {
    const { of, result, title } = judgeRequest({ ...SENT, ...change });
    expect(of('request')).toMatchObject({
      verdict: 'fails',
      detail: expect.stringMatching(detail),
    });
    expect([result, title]).toEqual([
      'differs',
      'The job holds. Your question is not the proven one.',
    ]);
  });

  it('is another one with another salt, and unchecked with none', () => {
    expect(judgeRequest(SENT, Buffer.alloc(32, 8)).of('request')?.verdict).toBe('fails');
    const { of, result } = judge(asked, { request: sent });
    expect([of('request')?.verdict, result]).toEqual(['not_checkable', 'not_checkable']);
  });

  it.each([
    ['as it was locked', { max_tokens: TOKEN_LIMIT }, 32_768, 'holds'],
    ['by its other name', { max_completion_tokens: TOKEN_LIMIT }, 32_768, 'holds'],
    ['left to the service', {}, 32_768, 'holds'],
    ['with the ceiling that was locked', { max_credits: 8 }, 32_768, 'holds'],
    ['with a lower ceiling', { max_credits: 7 }, 32_768, 'fails'],
    ['below the lock', { max_tokens: TOKEN_LIMIT - 1 }, 32_768, 'fails'],
    ['above what was locked', { max_tokens: TOKEN_LIMIT + 1 }, 32_768, 'fails'],
    ['that fits the window', { max_tokens: 5_000 }, 5_000 + BYTES, 'fails'],
    ['that the window cut', { max_tokens: 5_000 }, TOKEN_LIMIT + 1, 'holds'],
    ['that the window cut to more', { max_tokens: 5_000 }, TOKEN_LIMIT + BYTES + 1, 'fails'],
    ['above what was locked, of a model unseen', { max_tokens: 5_000 }, null, 'not_checkable'],
  ])('compares the token limit: %s', (_what, limits, contextWindowTokens, verdict) => {
    const { max_tokens: _, ...others } = SENT;
    const request = readRequest(JSON.stringify({ ...others, ...limits }));
    const account = { sequence: 1n, cardHash: new Uint8Array(32) };
    const model =
      contextWindowTokens === null
        ? {}
        : { model: { records: [], account: { ...account, contextWindowTokens } } };
    const { of } = judge({ ...asked, ...model }, { request, salt: SALT });
    expect(of('request')?.verdict).toBe(verdict);
  });

  it('has nothing to be compared with where nothing was proven', () => {
    const { of } = judge(failed, { request: sent, salt: SALT });
    expect(of('request')?.verdict).toBe('not_checkable');
  });
});

describe('what an answer says of its job', () => {
  const other = Keypair.generate().publicKey.toBase58();
  const stated = () => {
    const [lock, completion] = asked.transactions;
    const event = completion?.events.find(({ name }) => name === 'JobCompleted');
    const locked = lock?.events.find(({ data }) => 'job' in data && data.job.equals(asked.job));
    if (event?.name !== 'JobCompleted' || locked?.name !== 'JobLocked') throw new Error('no job');
    return {
      model: MODEL,
      job_id: formatJobId(locked.data.jobId),
      worker: event.data.worker.toBase58(),
      attempt: event.data.attempt,
      credits_charged: Number(event.data.chargedCredits),
      usdc_value: Number(event.data.chargedCredits) / 100,
      'usage.cost': Number(event.data.chargedCredits) / 100,
      'usage.prompt_tokens': event.data.promptTokens,
      'usage.completion_tokens': event.data.countedTokens,
      output_hash: `sha256:${createHash('sha256').update(OUTPUT).digest('hex')}`,
      escrow_tx: lock?.signature ?? '',
      settlement_tx: completion?.signature ?? '',
    };
  };

  it('is what the ledger records, with the settlement or without', () => {
    const { settlement_tx: _, ...fresh } = stated();
    for (const answer of [stated(), fresh]) {
      const { of, result } = judge(asked, { answer });
      expect([of('answer')?.verdict, result]).toEqual(['holds', 'holds']);
    }
  });

  it.each([
    { model: 'qwen3-14b' },
    { job_id: `job_${'0'.repeat(12)}7${'0'.repeat(3)}8${'0'.repeat(15)}` },
    { worker: other },
    { attempt: 2 },
    { credits_charged: 4 },
    { usdc_value: 99.99 },
    { 'usage.cost': 99.99 },
    { 'usage.prompt_tokens': 1_000 },
    // What the worker proved, one more than the charge is for.
    { 'usage.completion_tokens': 600 },
    { output_hash: `sha256:${'0'.repeat(64)}` },
    { escrow_tx: '5'.repeat(88) },
    { settlement_tx: '5'.repeat(88) },
  ])('is something else: %j', (change) => {
    const { of, title } = judge(asked, { answer: { ...stated(), ...change } });
    const [field = ''] = Object.keys(change);
    expect(of('answer')).toMatchObject({
      verdict: 'fails',
      detail: expect.stringMatching(new RegExp(`^its ${field} is \\S+, not \\S+\\.$`)),
    });
    expect(title).toBe('The job holds. Your answer says something else of it.');
  });

  it('is shown without what steers a terminal', () => {
    const { of } = judge(asked, { answer: { ...stated(), model: `${MODEL}\u001b[2J\u202e` } });
    expect(of('answer')).toMatchObject({
      verdict: 'fails',
      detail: `its model is ${MODEL} [2J, not ${MODEL}.`,
    });
  });

  it('has counts of tokens where nothing was charged, which are not compared', () => {
    const counts = { 'usage.prompt_tokens': 7, 'usage.completion_tokens': 0 };
    const free = { model: MODEL, credits_charged: 0, usdc_value: 0, 'usage.cost': 0, ...counts };
    expect(judge(failed, { answer: free }).of('answer')?.verdict).toBe('holds');
    expect(judge(failed, { answer: { ...free, 'usage.cost': 0.01 } }).of('answer')).toMatchObject({
      ...{ verdict: 'fails', detail: 'its usage.cost is 0.01, not 0.' },
    });
  });

  it('waits for the settlement of a charge, and not for that of none', () => {
    const { model, credits_charged } = stated();
    const verdicts = [
      judge(open, { answer: { model, credits_charged } }),
      judge(open, { answer: { model, credits_charged: 0 } }),
      judge(failed, { answer: { model, credits_charged: 0 } }),
      judge(failed, { answer: { model, credits_charged } }),
      judge(refunded, { answer: { model, credits_charged } }),
    ].map(({ of }) => of('answer')?.verdict);
    expect(verdicts).toEqual([...['not_checkable', 'holds', 'holds'], ...['fails', 'fails']]);
  });

  it.each(['worker', 'attempt', 'output_hash', 'credits_charged'] as const)(
    'must have its %s where the job was charged, and only there',
    (field) => {
      const { [field]: _, ...answer } = stated();
      expect(judge(asked, { answer }).of('answer')).toMatchObject({
        verdict: 'fails',
        detail: expect.stringMatching(new RegExp(`^its ${field} is missing, not \\S+\\.$`)),
      });
      expect(judge(failed, { answer: { model: MODEL } }).of('answer')?.verdict).toBe('holds');
    },
  );

  it('comes with text, receipt and salt, and without text if uncharged', () => {
    const { model: _, ...svc } = stated();
    const saved = (content: string, more: object) =>
      evidenceIn(
        readAnswer(
          JSON.stringify({
            ...{ id: `chatcmpl-${svc.job_id}`, model: MODEL },
            choices: [{ message: { content }, finish_reason: 'stop' }],
            svc: { ...svc, request_salt: SALT.toString('hex'), ...more },
          }),
        ),
      );
    const delivery_receipt = scene.receipt(asked.job);
    const client = saved(OUTPUT, { delivery_receipt });
    const { of, result } = judge(asked, { ...client, request: sent });
    const rules = ['output', 'receipt', 'request', 'answer'];
    expect(rules.map((rule) => of(rule)?.verdict)).toEqual(rules.map(() => 'holds'));
    expect(result).toBe('holds');
    const empty = saved('', { output_hash: null });
    const verdicts = [asked, failed, refunded, open].map(
      (evidence) => judge(evidence, empty).of('output')?.verdict,
    );
    expect(verdicts).toEqual(['fails', 'not_applicable', 'not_applicable', 'not_applicable']);
    expect(judge(failed, saved('', {})).of('output')?.verdict).toBe('not_checkable');
  });
});
