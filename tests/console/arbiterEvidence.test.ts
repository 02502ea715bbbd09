import { describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair, type PublicKey } from '@solana/web3.js';
import {
  judgeProofs,
  judgeReceipt,
  type OpenDispute,
} from '../../console/pages/arbiter/evidence.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { evidenceArguments } from '../../programs/client/instructions.ts';
import {
  formatReceipt,
  type ProvenOutput,
  proofMessage,
  receiptMessage,
  sign,
  signHashed,
} from '../../programs/client/proof.ts';
import { statementOf } from '../../programs/client/statement.ts';
import { hashOf } from '../../testing/kit/cast.ts';
import { ANSWER, REQUEST } from '../../testing/kit/jobInstructions.ts';

const OTHER = hashOf('another answer');
const proofKey = Keypair.generate();
const hotSigner = Keypair.generate();
const key = () => Keypair.generate().publicKey;
const [job, worker] = [key(), key()];
const programId = PROGRAM_ID.toBase58();
const textOf = (hash: Uint8Array) => `sha256:${Buffer.from(hash).toString('hex')}`;

/** What the page knows of a dispute, as far as evidence concerns it. */
const dispute = {
  ...{ job_address: job.toBase58(), worker_address: worker.toBase58(), attempt: 2 },
  ...{ proof_hash: textOf(ANSWER), your_hash: textOf(OTHER) },
} as OpenDispute;

type Proven = Partial<ProvenOutput> & {
  programId?: PublicKey;
  job?: PublicKey;
  worker?: PublicKey;
  attempt?: number;
};

const messageOf = (proven: Proven) =>
  proofMessage({
    ...{ programId: PROGRAM_ID, job, worker, attempt: 2 },
    ...{ outputHash: ANSWER, promptTokens: 1, completionTokens: 2, statement: REQUEST },
    ...proven,
  });
const fileOf = (message: Uint8Array, signature: Uint8Array, by = proofKey) =>
  JSON.stringify({
    public_key: by.publicKey.toBase58(),
    message: Buffer.from(message).toString('hex'),
    signature: base58.encode(signature),
  });
const signedProof = (proven: Proven = {}, by = proofKey) =>
  fileOf(messageOf(proven), signHashed(messageOf(proven), by), by);
const judge = (recorded: string, other: string) =>
  judgeProofs([recorded, other], dispute, programId);

describe('two proofs in the arbiter’s page', () => {
  it.each<[string, Proven]>([
    ['text', { outputHash: OTHER }],
    ['count', { completionTokens: 3 }],
    ['request', { statement: OTHER }],
  ])('convict where they differ in the %s, and make the verdict', (_, changes) => {
    const judged = judge(signedProof(), signedProof(changes));
    if (!judged.convicts) throw new Error(judged.finding);
    const { outputHash, completionTokens, statement, recordedStatement } = evidenceArguments(
      judged.evidence,
    );
    const expected = { outputHash: ANSWER, completionTokens: 2, statement: REQUEST };
    const found = {
      outputHash: Buffer.from(outputHash),
      completionTokens,
      statement: Buffer.from(statement),
    };
    expect(found).toEqual({ ...expected, ...changes });
    expect(Buffer.from(recordedStatement)).toEqual(REQUEST);
  });

  const ofOther = 'A proof is of another job, worker or attempt.';
  const other = (changes: Proven) => signedProof({ outputHash: OTHER, ...changes });
  it.each<[what: string, finding: string, recorded: string, other: string]>([
    ['one has no fields', 'The other proof is not a signed message.', signedProof(), '{}'],
    [
      'one is only signed bytes',
      "A message is not a worker's proof.",
      fileOf(OTHER, sign(OTHER, proofKey)),
      signedProof(),
    ],
    ['one is of another job', ofOther, signedProof(), other({ job: key() })],
    ['one is of another worker', ofOther, signedProof(), other({ worker: key() })],
    ['one is of another attempt', ofOther, signedProof(), other({ attempt: 1 })],
    ['one is of another program', ofOther, signedProof(), other({ programId: key() })],
    [
      'one is signed over the message itself',
      'A signature does not fit its message.',
      signedProof(),
      fileOf(messageOf({ outputHash: OTHER }), sign(messageOf({ outputHash: OTHER }), proofKey)),
    ],
    [
      'they are in the other order',
      'The first proof is not the recorded one: its text is another.',
      other({}),
      signedProof(),
    ],
    [
      'they say the same',
      'Both proofs say the same: they prove no fault.',
      signedProof(),
      signedProof(),
    ],
    [
      'two keys signed them',
      'The proofs were signed by two keys.',
      signedProof(),
      signedProof({ outputHash: OTHER }, hotSigner),
    ],
  ])('prove no fault where %s', (_, finding, recorded, second) => {
    expect(judge(recorded, second)).toEqual({ convicts: false, finding });
  });
});

describe('a delivery receipt in the arbiter’s page', () => {
  const halves = { requestCommitment: REQUEST, answerDetails: OTHER };
  const statement = statementOf(halves);
  const messageFor = (outputHash: Uint8Array) =>
    receiptMessage({ programId: PROGRAM_ID, job, outputHash, statement });
  const judgeSigned = (signature: Uint8Array, recorded = '') => {
    const svc = {
      delivery_receipt: formatReceipt(hotSigner.publicKey, signature),
      request_commitment: Buffer.from(halves.requestCommitment).toString('hex'),
      answer_details: Buffer.from(halves.answerDetails).toString('hex'),
    };
    return judgeReceipt(JSON.stringify(svc), recorded, dispute, programId);
  };
  const refused = (finding: string) => ({ convicts: false, finding });

  it('convicts by the signature of its sha256 alone', () => {
    expect(judgeSigned(signHashed(messageFor(OTHER), hotSigner)).convicts).toBe(true);
    expect(judgeSigned(sign(messageFor(OTHER), hotSigner))).toEqual(
      refused("The receipt was not signed for this job and the client's answer."),
    );
    expect(judgeReceipt('{}', '', dispute, programId)).toEqual(
      refused('This is not the svc of an answer, with a receipt.'),
    );
  });

  it('convicts by another statement of the proven text, beside its proof', () => {
    const receipt = signHashed(messageFor(ANSWER), hotSigner);
    const judged = judgeSigned(receipt, signedProof());
    if (!judged.convicts) throw new Error(judged.finding);
    const { statement: named, recordedStatement } = evidenceArguments(judged.evidence);
    expect([named, recordedStatement].map((bytes) => Buffer.from(bytes))).toEqual([
      Buffer.from(statement),
      REQUEST,
    ]);
    expect(judgeSigned(receipt)).toEqual(
      refused('The receipt is for the proven text: only the recorded proof can show a fault.'),
    );
    expect(judgeSigned(receipt, signedProof({ statement }))).toEqual(
      refused('The receipt says what the proof says: it proves no fault.'),
    );
    expect(judgeSigned(receipt, signedProof({ attempt: 1 })).convicts).toBe(false);
  });
});
