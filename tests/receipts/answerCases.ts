import { Keypair } from '@solana/web3.js';
import { bytesToHex, utf8 } from '../../programs/client/platform/bytes.ts';
import { sha256 } from '../../programs/client/platform/crypto.node.ts';
import { createJobScene, type JobScene, type LockedJob } from '../../testing/ledger/jobScene.ts';
import type { Random } from '../../testing/random.ts';
import { createForgingNode } from '../auditors/forgeries/node.ts';
import {
  type AnsweredJob,
  type Dialogue,
  drawDialogue,
  receiptFor,
  withStatement,
} from './answeredJob.ts';
import type { AnyUnitCase, ClientParts, ExpectedVerdict, JobCase } from './cases.ts';
import { drawKeypair } from './drawKeypair.ts';
import type { NodeCases } from './forgedCases.ts';
import { readListed, record } from './record.ts';
import { otherQuestions, SAME_QUESTION } from './requestForms.ts';
import { BROKEN_FORMS, SAVED_FORMS, withSvc, withText } from './savedForms.ts';
import type { LedgerSnapshot } from './snapshot.ts';
import { verdictOf } from './verdict.ts';

const NODE = 'answers';
const REFUSED = { refused: true } as const;
const DAY_SECONDS = 86_401;

/** Jobs with drawn questions and answers, and what their clients kept. */
export async function answerCases(
  random: Random,
): Promise<NodeCases & { units: readonly AnyUnitCase[] }> {
  const scene = await createJobScene();
  try {
    const { answered, others } = await runJobs(random, scene);
    const [first, second] = answered as [AnsweredJob, AnsweredJob];
    const all = [...answered, ...Object.values(others)];
    const node = await recordAll(scene, all);
    const cases = [
      ...answered.map((answer, at) => ({ name: `drawn ${at + 1}`, ...partsOf(answer) })),
      ...Object.entries(others).map(([name, job]) => ({ name, job: job.address.toBase58() })),
      ...savedCases(answered),
      ...textCases(first, second, scene),
      ...statementCases(random, first, second),
      ...questionCases(random, first),
    ];
    return {
      ...{ name: NODE, node },
      units: [...readingCases(answered, scene), ...requestCases(first)],
      cases: cases.map(caseOf),
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

async function recordAll(scene: JobScene, jobs: readonly LockedJob[]): Promise<LedgerSnapshot> {
  const recording = record(createForgingNode(scene.ledger.rpcUrl));
  for (const { address } of jobs) await verdictOf(recording.connection, address.toBase58());
  await readListed(recording);
  return recording.snapshot();
}

/** Some alone, some together, and some that ended otherwise. */
async function runJobs(random: Random, scene: JobScene) {
  const lock = async (count: number): Promise<Dialogue[]> => {
    const tokenLimit = 100 + random.below(9_000);
    const model = scene.service.model.id;
    const locked = await scene.lock({ count, tokenLimit });
    return locked.map((one) => drawDialogue(random, { locked: one, model, tokenLimit }));
  };
  const alone = [...(await lock(1)), ...(await lock(1))];
  const together = await lock(3);
  for (const { address, answering } of alone) await scene.complete(address, answering);
  await scene.completeTogether(
    together.map(({ address, answering }) => ({ job: address, ...answering })),
  );
  const [rejected, contested, upheld, failed, refunded, closed] = (await lock(6)) as [
    ...[Dialogue, Dialogue, Dialogue, Dialogue, Dialogue, Dialogue],
  ];
  for (const { address, answering } of [rejected, contested, closed]) {
    await scene.complete(address, answering);
  }
  await scene.complete(upheld.address);
  await scene.dispute(rejected.address);
  await scene.disputeAsWallet(contested.address);
  await scene.disputeAsWallet(upheld.address);
  await scene.fail(failed.address);
  await scene.resolve(rejected.address, 'rejected');
  await scene.resolve(contested.address, 'rejected');
  await scene.resolve(upheld.address, 'upheld_worker');
  await scene.wait(DAY_SECONDS);
  await scene.refund(refunded.address);
  await scene.close([closed.address]);
  const answered = await Promise.all(
    [...alone, ...together, closed].map((dialogue) => withStatement(scene, dialogue)),
  );
  const others = {
    'a dispute that was rejected': rejected,
    'a dispute by the wallet that was rejected': contested,
    'a dispute by the wallet that was upheld': upheld,
    'an answer that failed': failed,
    'an answer that never came': refunded,
  };
  return { answered, others };
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
function textCases(answer: AnsweredJob, other: AnsweredJob, { service }: JobScene): Stated[] {
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
    'a receipt of a stranger': receiptFor(Keypair.generate(), address, sha256(utf8(text))),
    'a receipt of no form': 'a.b',
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
  const said: Record<string, object> = {
    'another hash': { output_hash: svc.output_hash },
    'another charge': { credits_charged: 1_000_000 },
    'another worker': { worker: drawKeypair(random).publicKey.toBase58() },
    'another attempt': { attempt: 250 },
    'another lock': { escrow_tx: svc.escrow_tx },
  };
  const stated = (name: string, changed: object, failing: string[]) => ({
    ...{ name: `it states ${name}`, answer: withSvc(answer, changed), request, failing },
  });
  return [
    stated('another salt', { request_salt: bytesToHex(random.bytes(32)) }, ['delivery.request']),
    stated('another receipt', { delivery_receipt: svc.delivery_receipt }, ['delivery.receipt']),
    ...Object.entries(said).map(([name, changed]) => stated(name, changed, [])),
  ];
}

function questionCases(random: Random, answer: AnsweredJob): Stated[] {
  const { salt: _, ...parts } = partsOf(answer);
  const salt = String(answer.svc.request_salt);
  const asked = (name: string, body: unknown, failing: string[] = []) => ({
    ...{ name, ...parts, salt, request: JSON.stringify(body), failing },
  });
  const failing = ['delivery.request'];
  const others = Object.entries(otherQuestions(random, answer.body));
  return [
    ...Object.entries(SAME_QUESTION).map(([name, form]) => asked(name, form(answer.body))),
    ...others.map(([name, body]) => asked(`another question: ${name}`, body, failing)),
    { name: 'a question without its salt', ...parts, not_checkable: failing },
  ];
}

/** What each form says of itself: its text, and what the API sent with it. */
function readingCases(answered: readonly AnsweredJob[], { service }: JobScene): AnyUnitCase[] {
  const [first, other] = answered as [AnsweredJob, AnsweredJob];
  const { job_id, request_salt, delivery_receipt } = first.svc;
  const wallet = service.wallet.publicKey.toBase58();
  const expected = { job_id, wallet, text: first.text, request_salt, delivery_receipt };
  const reading = (name: string, saved: string, result: object) =>
    ({ kind: 'answer', name, input: { saved }, expected: result }) as AnyUnitCase;
  return [
    ...Object.entries(SAVED_FORMS).map(([name, form]) => reading(name, form(first), expected)),
    ...Object.entries(BROKEN_FORMS).map(([name, form]) =>
      reading(`refused: ${name}`, form(first, other), REFUSED),
    ),
  ];
}

/** A body as it was sent, to what a worker signed of it. */
function requestCases({ body, salt, tokenLimit, answering }: AnsweredJob): AnyUnitCase[] {
  const commitment = bytesToHex(answering.requestCommitment);
  const requestCase = (name: string, request: string, expected: object) => {
    const input = { request, salt: bytesToHex(salt), token_limit: tokenLimit };
    return { kind: 'request', name, input, expected } as AnyUnitCase;
  };
  const refused = {
    nothing: '',
    'a list': '[]',
    'no messages': '{"model":"m"}',
    'no model': '{"messages":[]}',
    'a seed beyond 2^53': JSON.stringify({ ...body, seed: 2 ** 53 }),
  };
  return [
    ...Object.entries(SAME_QUESTION).map(([name, form]) =>
      requestCase(name, JSON.stringify(form(body)), { commitment }),
    ),
    ...Object.entries(refused).map(([name, text]) =>
      requestCase(`refused: ${name}`, text, REFUSED),
    ),
  ];
}
