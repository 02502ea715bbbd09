import { bytesToHex, utf8 } from '../../../programs/client/platform/bytes.ts';
import { sha256 } from '../../../programs/client/platform/crypto.node.ts';
import { createJobScene, type JobScene } from '../../../testing/ledger/jobScene.ts';
import type { Random } from '../../../testing/random.ts';
import { type AnsweredJob, receiptFor } from './answeredJob.ts';
import { type ModelCards, runJobs } from './answerScene.ts';
import type { AnyUnitCase, ClientParts, ExpectedVerdict, JobCase } from './cases.ts';
import { answerConditions } from './conditions/answers.ts';
import { conditionCases } from './conditions/condition.ts';
import { drawKeypair } from './drawKeypair.ts';
import type { NodeCases } from './endedCases.ts';
import { recordJobs } from './record.ts';
import { otherQuestions, SAME_QUESTION } from './requestForms.ts';
import { SAVED_FORMS, withLateSvc, withSvc, withText, withUsage } from './savedForms.ts';

const NODE = 'answers';

/** Jobs with drawn questions and answers, and what their clients kept. */
export async function answerCases(
  random: Random,
): Promise<NodeCases & { units: readonly AnyUnitCase[] }> {
  const scene = await createJobScene();
  try {
    const { answered, others, cards, failed } = await runJobs(random, scene);
    const [first, second] = answered as [AnsweredJob, AnsweredJob];
    const jobs = [...answered, ...Object.values(others)].map(({ address }) => address);
    // With a card, the model is read too.
    const node = await recordJobs(scene, jobs, { card: '{}' });
    const cases = [
      ...answered.map((answer, at) => ({ name: `drawn ${at + 1}`, ...partsOf(answer) })),
      ...Object.entries(others).map(([name, job]) => ({ name, job: job.address.toBase58() })),
      ...savedCases(answered),
      ...textCases(random, first, second, scene),
      ...statementCases(random, first, second),
      ...questionCases(random, first),
      ...cardCases(answered, cards),
    ];
    return {
      ...{ name: NODE, node },
      units: [...formCases(first, scene), ...requestCases(first)],
      cases: [
        ...cases.map(caseOf),
        ...(await conditionCases(
          NODE,
          node,
          answerConditions({
            ...{ answer: first, carded: answered[2] as AnsweredJob, failed, cards, node },
            last: answered.at(-1) as AnsweredJob,
            rejected: others['a dispute that was rejected'].address,
          }),
        )),
      ],
    };
  } finally {
    await scene.ledger.close();
  }
}

/** A case of this node, with the checks that fail or cannot be made. */
type Stated = ClientParts &
  Pick<JobCase, 'name' | 'job' | 'answer'> &
  Partial<Pick<ExpectedVerdict, 'failing' | 'not_checkable'>>;

function caseOf({ name, failing = [], not_checkable = [], ...parts }: Stated): JobCase {
  const unchecked = not_checkable.length > 0 ? 'not_checkable' : 'holds';
  const result = failing.length > 0 ? 'fails' : unchecked;
  const expected = { result, failing, not_checkable } as const;
  return { kind: 'job', name: `${NODE}: ${name}`, node: NODE, ...parts, expected };
}

const partsOf = ({ address, text, body, svc }: AnsweredJob) => ({
  job: address.toBase58(),
  output: text,
  receipt: String(svc.delivery_receipt),
  request: JSON.stringify(body),
  salt: String(svc.request_salt),
});

/** Every form of every other answer, with its question. */
const savedCases = (answered: readonly AnsweredJob[]): Stated[] =>
  Object.entries(SAVED_FORMS).map(([name, form], at) => {
    const answer = answered[at % answered.length] as AnsweredJob;
    return { name, answer: form(answer), request: JSON.stringify(answer.body) };
  });

/** Texts and receipts that are not those of the job. */
function textCases(
  random: Random,
  answer: AnsweredJob,
  other: AnsweredJob,
  { service }: JobScene,
): Stated[] {
  const { text, address } = answer;
  const job = address.toBase58();
  const changed = 'another text';
  const changedHash = sha256(utf8(changed));
  const outputs = {
    'another text': changed,
    'no text': '',
    'a newline more': `${text}\n`,
    'CR LF for LF': text.replaceAll('\n', '\r\n'),
    'white space more': ` ${text}`,
    'another normal form': text.normalize('NFD'),
  };
  const receipts = {
    'a receipt of another job': String(other.svc.delivery_receipt),
    'a receipt for another text': receiptFor(service.hotSigner, address, changedHash),
    'a receipt of a stranger': receiptFor(drawKeypair(random), address, sha256(utf8(text))),
    'a receipt of no form': 'a.b',
    'a receipt whose key is no base58': '0.b',
    'a receipt with a line end behind it': `${answer.svc.delivery_receipt}\n`,
  };
  const convicting = receiptFor(service.hotSigner, address, changedHash);
  const [failing, byReceipt] = [['delivery.output'], ['delivery.receipt']];
  return [
    ...Object.entries(outputs).map(([name, output]) => ({ name, job, output, failing })),
    ...Object.entries(receipts).map(([name, receipt]) => ({
      ...{ name, job, receipt, failing: byReceipt },
    })),
    {
      ...{ name: 'a receipt that convicts', job, output: changed, receipt: convicting },
      failing: [...failing, ...byReceipt],
    },
    ...Object.entries(outputs).map(([name, output]) => ({
      ...{ name: `saved: ${name}`, answer: withText(answer, output), failing },
    })),
  ];
}

/** Answers that say something else of their job than the ledger does. */
function statementCases(random: Random, answer: AnsweredJob, other: AnsweredJob): Stated[] {
  const request = JSON.stringify(answer.body);
  const { svc } = other;
  const said: Record<string, Record<string, unknown>> = {
    'another hash': { output_hash: svc.output_hash },
    'another charge': { credits_charged: 1_000_000 },
    'another worker': { worker: drawKeypair(random).publicKey.toBase58() },
    'another attempt': { attempt: 250 },
    'another lock': { escrow_tx: svc.escrow_tx },
    'another value': { usdc_value: 99.99 },
  };
  const used = { cost: 99.99, prompt_tokens: 11, completion_tokens: answer.answering.tokens };
  const failing = ['delivery.answer'];
  const stated = (name: string, changed: Record<string, unknown>, failing: string[]) => ({
    ...{ name: `it states ${name}`, answer: withSvc(answer, changed), request, failing },
  });
  return [
    stated('another salt', { request_salt: bytesToHex(random.bytes(32)) }, ['delivery.request']),
    stated('another receipt', { delivery_receipt: svc.delivery_receipt }, ['delivery.receipt']),
    ...Object.entries(said).map(([name, changed]) => stated(name, changed, failing)),
    ...Object.entries(used).map(([field, value]) => ({
      ...{ name: `it states another ${field}`, answer: withUsage(answer, { [field]: value }) },
      failing,
    })),
    {
      ...{ name: 'it states another charge in its last svc', failing },
      answer: withLateSvc(answer, { credits_charged: 1_000_000 }),
    },
    ...unprovenCases(answer),
  ];
}

/** A charged job's answer as if it were one that cost nothing. */
function unprovenCases(answer: AnsweredJob): Stated[] {
  const named = { worker: null, attempt: null, output_hash: null, delivery_receipt: null };
  const failing = ['delivery.output', 'delivery.answer'];
  const without = ['worker', 'attempt', 'output_hash', 'credits_charged'];
  return [
    ...Object.entries({ 'no proof': named, 'no charge': { ...named, credits_charged: null } }).map(
      ([name, changed]) => {
        const form = withSvc({ ...answer, text: '' }, changed);
        return { name: `no text, and it states ${name}`, answer: form, failing };
      },
    ),
    ...without.map((field) => ({
      ...{ name: `it states no ${field}`, answer: withSvc(answer, { [field]: null }) },
      failing: ['delivery.answer'],
    })),
  ];
}

/** Of jobs that were locked before a model had a card, under the first one, and under the next. */
function cardCases(answered: readonly AnsweredJob[], cards: ModelCards): Stated[] {
  const [before, , first] = answered as readonly [AnsweredJob, AnsweredJob, AnsweredJob];
  const later = answered.at(-1) as AnsweredJob;
  const failing = ['model.card'];
  const card = (name: string, answer: AnsweredJob, text: string, fails: string[]) => ({
    ...{ name: `a card: ${name}`, job: answer.address.toBase58(), card: text, failing: fails },
  });
  const [one, next] = [JSON.stringify(cards.first), JSON.stringify(cards.later)];
  return [
    { ...card('where none was pinned', before, one, []), not_checkable: ['model.card'] },
    card('the first', first, one, []),
    card('the first, in another spelling', first, JSON.stringify(cards.first, null, 1), []),
    card('the first, behind a byte order mark', first, `\ufeff${one}`, []),
    card('the next one', later, next, []),
    card('the next one, of a job before it', first, next, failing),
    card('the one before', later, one, failing),
    card('no JSON', first, 'card', failing),
  ];
}

function questionCases(random: Random, answer: AnsweredJob): Stated[] {
  const { salt: _, ...parts } = partsOf(answer);
  const salt = String(answer.svc.request_salt);
  const asked = (name: string, body: unknown, failing: string[] = []) => ({
    ...{ name, ...parts, salt, request: JSON.stringify(body), failing },
  });
  const failing = ['delivery.request'];
  const others = Object.entries(otherQuestions(random, answer));
  return [
    ...Object.entries(SAME_QUESTION).map(([name, form]) => asked(name, form(answer.body))),
    ...others.map(([name, body]) => asked(`another question: ${name}`, body, failing)),
    { name: 'a question without its salt', ...parts, not_checkable: failing },
  ];
}

/** What each form says of itself: its text, and what the API sent with it. */
function formCases(answer: AnsweredJob, { service }: JobScene): AnyUnitCase[] {
  const { job_id, request_salt, delivery_receipt } = answer.svc;
  const wallet = service.wallet.publicKey.toBase58();
  const expected = { job_id, wallet, text: answer.text, request_salt, delivery_receipt };
  return Object.entries(SAVED_FORMS).map(
    ([name, form]) =>
      ({ kind: 'answer', name, input: { saved: form(answer) }, expected }) as AnyUnitCase,
  );
}

/** A body as it was sent, to what a worker signed of it. */
function requestCases({ body, salt, tokenLimit, answering }: AnsweredJob): AnyUnitCase[] {
  const expected = { commitment: bytesToHex(answering.requestCommitment) };
  return Object.entries(SAME_QUESTION).map(([name, form]) => {
    const request = JSON.stringify(form(body));
    const input = { request, salt: bytesToHex(salt), token_limit: tokenLimit };
    return { kind: 'request', name, input, expected };
  });
}
