import { bytesToHex, utf8 } from '../../../programs/client/platform/bytes.ts';
import { sha256 } from '../../../programs/client/platform/node.ts';
import {
  type AnswerDetails,
  answerDetails,
  type ToolCall,
} from '../../../programs/client/statement.ts';
import { createJobScene, type JobScene } from '../../../testing/ledger/jobScene.ts';
import type { Random } from '../../../testing/random.ts';
import { asResponses } from '../responsesBody.ts';
import { type AnsweredJob, receiptFor } from './answeredJob.ts';
import { type ModelCards, runJobs } from './answerScene.ts';
import type { AnyUnitCase } from './cases.ts';
import { answerConditions } from './conditions/answers.ts';
import { type Condition, conditionCases, honest } from './conditions/condition.ts';
import { toolConditions } from './conditions/toolQuestions.ts';
import { drawKeypair } from './draw.ts';
import type { NodeCases } from './endedCases.ts';
import { recordJobs } from './record.ts';
import { otherQuestions, SAME_QUESTION } from './requestForms.ts';
import {
  SAVED_FORMS,
  withDetails,
  withLatePart,
  withSvc,
  withText,
  withUsage,
} from './savedForms.ts';

const NODE = 'answers';
const HOLDS = 'holds history.sequence';

/** Jobs with drawn questions and answers, and what their clients kept. */
export async function answerCases(
  random: Random,
): Promise<NodeCases & { units: readonly AnyUnitCase[] }> {
  const scene = await createJobScene();
  try {
    const { answered, others, cards, failed } = await runJobs(random, scene);
    const [first, second, third] = answered as [AnsweredJob, AnsweredJob, AnsweredJob];
    const last = answered.at(-1) as AnsweredJob;
    const jobs = [...answered, ...Object.values(others)].map(({ address }) => address);
    // With a card, the model is read too.
    const node = await recordJobs(scene, jobs, { card: '{}' });
    const whole = [
      ...answered.map((answer, at) => ({ name: `drawn ${at + 1}`, ...partsOf(answer), is: HOLDS })),
      ...Object.entries(others).map(([name, { address }]) => honest(name, address)),
      ...savedCases(random, answered),
      ...textCases(random, first, second, scene),
      ...statementCases(random, first, second),
      ...detailCases(random, answered),
      ...questionCases(random, first),
      ...laterCases(first, second),
      ...toolConditions(third),
      ...cardCases([first, third, last], cards),
    ].map((one) => ({ ...one, isAll: true }));
    const rejected = others['a dispute that was rejected'].address;
    const subjects = { answer: first, carded: third, last, failed, cards, node, rejected };
    return {
      ...{ name: NODE, node },
      units: [...formCases(first, scene), ...requestCases(first)],
      cases: await conditionCases(NODE, node, [...whole, ...answerConditions(subjects)]),
    };
  } finally {
    await scene.ledger.close();
  }
}

const partsOf = ({ address, text, body, svc }: AnsweredJob) => ({
  job: address,
  output: text,
  receipt: String(svc.delivery_receipt),
  request: JSON.stringify(body),
  salt: String(svc.request_salt),
  answer_details: String(svc.answer_details),
});

/** Every form of every other answer, with its question in the same format. */
const savedCases = (random: Random, answered: readonly AnsweredJob[]): Condition[] =>
  Object.entries(SAVED_FORMS).map(([name, form], at) => {
    const answer = answered[at % answered.length] as AnsweredJob;
    const { body } = answer;
    const asked = name.endsWith('of responses') ? asResponses(random, body) : body;
    return { name, answer: form(answer), request: JSON.stringify(asked), is: HOLDS };
  });

/** Texts and receipts that are not those of the job. */
function textCases(
  random: Random,
  answer: AnsweredJob,
  other: AnsweredJob,
  { service: { hotSigner } }: JobScene,
): Condition[] {
  const { text, address: job } = answer;
  const changed = 'another text';
  const outputs = {
    'another text': changed,
    'no text': '',
    'a newline more': `${text}\n`,
    'CR LF for LF': text.replaceAll('\n', '\r\n'),
    'white space more': ` ${text}`,
    'another normal form': text.normalize('NFD'),
  };
  const convicting = receiptFor(hotSigner, answer, { outputHash: sha256(utf8(changed)) });
  const receipts = {
    'a receipt of another job': String(other.svc.delivery_receipt),
    'a receipt for another text': convicting,
    'a receipt of a stranger': receiptFor(drawKeypair(random), answer),
    'a receipt of another statement': receiptFor(hotSigner, answer, {
      statement: random.bytes(32),
    }),
    'a receipt of no form': 'a.b',
    'a receipt whose key is no base58': '0.b',
    'a receipt with a line end behind it': `${answer.svc.delivery_receipt}\n`,
  };
  const is = 'fails delivery.output';
  return [
    ...Object.entries(outputs).map(([name, output]) => ({ name, job, output, is })),
    ...Object.entries(receipts).map(([name, receipt]) => ({
      ...{ name, job, receipt, is: 'fails delivery.receipt' },
    })),
    {
      ...{ name: 'a receipt that convicts', job, output: changed, receipt: convicting },
      is: 'fails delivery.output delivery.receipt',
    },
    ...Object.entries(outputs).map(([name, output]) => ({
      ...{ name: `saved: ${name}`, answer: withText(answer, output), is },
    })),
  ];
}

/** Answers that say something else of their job than the ledger does. */
function statementCases(random: Random, answer: AnsweredJob, other: AnsweredJob): Condition[] {
  const request = JSON.stringify(answer.body);
  const { svc } = other;
  const said: Record<string, Record<string, unknown>> = {
    'another hash': { output_hash: svc.output_hash },
    'another charge': { credits_charged: 1_000_000 },
    'another worker': { worker: drawKeypair(random).publicKey.toBase58() },
    'another attempt': { attempt: 250 },
    'another lock': { escrow_tx: svc.escrow_tx },
    'another value': { usdc_value: 99.99 },
    'no worker': { worker: null },
    'no attempt': { attempt: null },
    'no output_hash': { output_hash: null },
    'no credits_charged': { credits_charged: null },
  };
  const used = { cost: 99.99, prompt_tokens: 11, completion_tokens: answer.answering.tokens };
  const uncharged = { worker: null, attempt: null, output_hash: null, delivery_receipt: null };
  const silent = { 'no proof': uncharged, 'no charge': { ...uncharged, credits_charged: null } };
  const is = 'fails delivery.answer';
  const stated = (name: string, changed: Record<string, unknown>, is: string) => ({
    ...{ name: `it states ${name}`, answer: withSvc(answer, changed), request, is },
  });
  return [
    stated(
      'another salt',
      { request_salt: bytesToHex(random.bytes(32)) },
      'fails delivery.request',
    ),
    stated('another receipt', { delivery_receipt: svc.delivery_receipt }, 'fails delivery.receipt'),
    ...Object.entries(said).map(([name, changed]) => stated(name, changed, is)),
    ...Object.entries(used).map(([field, value]) => ({
      ...{ name: `it states another ${field}`, answer: withUsage(answer, { [field]: value }), is },
    })),
    ...Object.entries<object>({
      'another charge': { svc: { credits_charged: 1_000_000 } },
      'another cost': { usage: { cost: 99 } },
      'another model': { model: 'another' },
    }).map(([name, part]) => ({
      ...{ name: `it states ${name} in a part of its own`, is: 'refused' },
      answer: withLatePart(answer, part),
    })),
    // A charged job's answer as if it were one that cost nothing.
    ...Object.entries(silent).map(([name, changed]) => ({
      name: `no text, and it states ${name}`,
      answer: withSvc({ ...answer, text: '' }, changed),
      is: 'fails delivery.output delivery.answer',
    })),
  ];
}

/** Answers of which something else than the text was changed, and halves of other statements. */
function detailCases(random: Random, answered: readonly AnsweredJob[]): Condition[] {
  const having = (field: 'reasoning' | 'toolCalls', isThere: boolean) =>
    answered.find(({ details }) => details[field].length > 0 === isThere) as AnsweredJob;
  const [thinking, silent] = [having('reasoning', true), having('reasoning', false)];
  const [calling, plain] = [having('toolCalls', true), having('toolCalls', false)];
  const [call] = calling.details.toolCalls as [ToolCall];
  const is = 'fails delivery.details';
  const list: [string, AnsweredJob, Partial<AnswerDetails>][] = [
    ['another finish reason', plain, { finishReason: 'length' }],
    ['other reasoning', thinking, { reasoning: `${thinking.details.reasoning}.` }],
    ['no reasoning', thinking, { reasoning: '' }],
    ['reasoning', silent, { reasoning: 'Hm.' }],
    ['a call', plain, { toolCalls: [call] }],
    ['no call', calling, { toolCalls: [] }],
    ['a call of another id', calling, { toolCalls: [{ ...call, id: 'call' }] }],
    ['a call of another name', calling, { toolCalls: [{ ...call, name: 'x' }] }],
    ['a call with other arguments', calling, { toolCalls: [{ ...call, arguments: '{}' }] }],
  ];
  const other = bytesToHex(random.bytes(32));
  const request = JSON.stringify(plain.body);
  const svc: [string, object, string][] = [
    ['a cut', { truncated: 'deadline' }, `${is} delivery.answer`],
    ['another request commitment', { request_commitment: other }, is],
    ['other answer details', { answer_details: other }, `${is} delivery.request`],
    ['no request commitment', { request_commitment: null }, 'refused'],
    ['no answer details', { answer_details: null }, 'refused'],
  ];
  return [
    ...list.map(([what, answer, changed]) => ({
      ...{ name: `an answer with ${what}`, answer: withDetails(answer, changed), is },
    })),
    ...svc.map(([what, changed, is]) => ({
      ...{ name: `an answer that states ${what}`, answer: withSvc(plain, { ...changed }), is },
      ...(is.endsWith('delivery.request') && { request }),
    })),
  ];
}

/** Of jobs that were locked before a model had a card, under the first one, and under the next. */
function cardCases(
  [before, first, last]: readonly [AnsweredJob, AnsweredJob, AnsweredJob],
  cards: ModelCards,
): Condition[] {
  const fails = 'fails model.card';
  const card = (name: string, { address }: AnsweredJob, text: string, is: string) => ({
    ...{ name: `a card: ${name}`, job: address, card: text, is },
  });
  const [one, next] = [JSON.stringify(cards.first), JSON.stringify(cards.later)];
  return [
    card('where none was pinned', before, one, 'not_checkable model.card'),
    card('the first', first, one, HOLDS),
    card('the first, in another spelling', first, JSON.stringify(cards.first, null, 1), HOLDS),
    card('the first, behind a byte order mark', first, `\ufeff${one}`, HOLDS),
    card('the next one', last, next, HOLDS),
    card('the next one, of a job before it', first, next, fails),
    card('the one before', last, one, fails),
    card('no JSON', first, 'card', fails),
  ];
}

function questionCases(random: Random, answer: AnsweredJob): Condition[] {
  const { salt, ...parts } = partsOf(answer);
  const asked = (name: string, body: unknown, is: string) => ({
    ...{ name, ...parts, salt, request: JSON.stringify(body), is },
  });
  const others = Object.entries(otherQuestions(random, answer));
  return [
    ...Object.entries(SAME_QUESTION).map(([name, form]) => asked(name, form(answer.body), HOLDS)),
    ...others.map(([name, body]) =>
      asked(`another question: ${name}`, body, 'fails delivery.request'),
    ),
    { name: 'a question without its salt', ...parts, is: 'not_checkable delivery.request' },
  ];
}

/** Of a service that gives one field more to its workers, and of one that does not. */
function laterCases(before: AnsweredJob, later: AnsweredJob): Condition[] {
  const { passed_later: _, ...rest } = later.body;
  const messages = [{ role: 'user', content: '?' }];
  const named = [{ role: 'user', content: '?', given_later: 'x' }];
  const [unknown, fails] = ['not_checkable delivery.request', 'fails delivery.request'];
  const list: [string, AnsweredJob, object, is: string][] = [
    ['as it was given', later, later.body, HOLDS],
    ['beside one that was not given', later, { ...later.body, other_later: 7 }, HOLDS],
    ['of another value', later, { ...rest, passed_later: ['x'] }, unknown],
    ['that is left out', later, rest, fails],
    ['that is null', later, { ...rest, passed_later: null }, fails],
    ['that was not given', before, { ...before.body, passed_later: 'x' }, HOLDS],
    ['and other messages', before, { ...before.body, messages, passed_later: 'x' }, unknown],
    ['and another model', before, { ...before.body, model: 'another', passed_later: 'x' }, fails],
    ['of a message', before, { ...before.body, messages: named }, unknown],
  ];
  return list.map(([name, answer, body, is]) => ({
    ...{ name: `a field of a later service, ${name}`, ...partsOf(answer), is },
    request: JSON.stringify(body),
  }));
}

/** Of the others a verification shows that they are read alike. */
const READ_FORMS = ['a plain answer', 'a stream'];

/** What these forms say of themselves: their text, and what the API sent with it. */
function formCases(answer: AnsweredJob, { service }: JobScene): AnyUnitCase[] {
  const { job_id, request_salt, delivery_receipt } = answer.svc;
  const wallet = service.wallet.publicKey.toBase58();
  const details = bytesToHex(answerDetails(answer.details));
  const said = { text: answer.text, request_salt, delivery_receipt, details };
  const expected = { job_id, wallet, ...said };
  return READ_FORMS.map((name): AnyUnitCase => {
    const saved = SAVED_FORMS[name]?.(answer) ?? '';
    return { kind: 'answer', name, input: { saved }, expected } as AnyUnitCase;
  });
}

/** A body as it was sent, to what a worker signed of it. */
function requestCases({ body, salt, tokenLimit, commitment }: AnsweredJob): AnyUnitCase[] {
  const expected = { commitment: bytesToHex(commitment) };
  return Object.entries(SAME_QUESTION).map(([name, form]) => {
    const request = JSON.stringify(form(body));
    const input = { request, salt: bytesToHex(salt), token_limit: tokenLimit };
    return { kind: 'request', name, input, expected };
  });
}
