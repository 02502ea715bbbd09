import { PublicKey } from '@solana/web3.js';
import {
  createAddresses,
  createJobIds,
  formatJobId,
  formatReceipt,
  PROGRAM_ID,
  parseJobId,
  proofMessage,
  receiptMessage,
  signHashed,
} from '../../../programs/client/index.ts';
import { bytesToHex, hexToBytes } from '../../../programs/client/platform/bytes.ts';
import { sha256 } from '../../../programs/client/platform/node.ts';
import {
  type AnswerDetails,
  answerDetails,
  statementOf,
  toolCallsAsJson,
} from '../../../programs/client/statement.ts';
import type { Random } from '../../../testing/random.ts';
import { TEXT_ALONE } from '../../../testing/textAlone.ts';
import { drawCall } from './answeredJob.ts';
import type { AnyUnitCase, ProofInput } from './cases.ts';
import { drawKeypair, drawText } from './draw.ts';

const addresses = createAddresses();

/** Job ids and addresses, and what workers and gateways sign. */
export function messageCases(random: Random): AnyUnitCase[] {
  return [
    ...jobIdCases(random),
    ...proofCases(random),
    ...receiptCases(random),
    ...statementCases(random),
  ];
}

/** Of a UUIDv7 whose address the program takes, at any time. */
function drawJobId(random: Random, creditAccount: PublicKey): string {
  const { bytes } = createJobIds()({
    nowMs: 2 ** 16 * random.below(2 ** 32) + random.below(2 ** 16),
    creditAccount,
    randomBytes: random.bytes,
  });
  return formatJobId(bytes);
}

function jobIdCases(random: Random): AnyUnitCase[] {
  const wallet = drawKeypair(random).publicKey;
  const creditAccount = addresses.creditAccount(wallet);
  return Array.from({ length: 4 }, (_, at): AnyUnitCase => {
    const jobId = drawJobId(random, creditAccount);
    const bytes = parseJobId(jobId) ?? new Uint8Array();
    const expected = {
      bytes: bytesToHex(bytes),
      credit_account: creditAccount.toBase58(),
      address: addresses.job(creditAccount, bytes).toBase58(),
    };
    const input = { job_id: jobId, wallet: wallet.toBase58() };
    return { kind: 'job_id', name: `drawn ${at + 1}`, input, expected };
  });
}

/** What a worker may prove. */
export function drawProof(random: Random): ProofInput {
  return {
    job: drawKeypair(random).publicKey.toBase58(),
    worker: drawKeypair(random).publicKey.toBase58(),
    attempt: random.below(256),
    output_hash: bytesToHex(random.bytes(32)),
    prompt_tokens: random.below(2 ** 32),
    completion_tokens: random.below(2 ** 32),
    statement: bytesToHex(random.bytes(32)),
  };
}

export function messageOfProof(proof: ProofInput): Uint8Array {
  return proofMessage({
    programId: PROGRAM_ID,
    job: new PublicKey(proof.job),
    worker: new PublicKey(proof.worker),
    attempt: proof.attempt,
    outputHash: hexToBytes(proof.output_hash),
    promptTokens: proof.prompt_tokens,
    completionTokens: proof.completion_tokens,
    statement: hexToBytes(proof.statement),
  });
}

export const signedForm = (message: Uint8Array) => ({
  message: bytesToHex(message),
  sha256: bytesToHex(sha256(message)),
});

const proofCases = (random: Random): AnyUnitCase[] =>
  ['drawn 1', 'drawn 2'].map((name) => {
    const input = drawProof(random);
    return { kind: 'proof_message', name, input, expected: signedForm(messageOfProof(input)) };
  });

/** Answers with and without each of what is hashed. */
function statementCases(random: Random): AnyUnitCase[] {
  const call = () => drawCall(random);
  const answers: Record<string, Partial<AnswerDetails>> = {
    'a text alone': {},
    'cut off': { finishReason: 'length', truncated: 'deadline' },
    'behind reasoning': { reasoning: drawText(random, 20) },
    'two calls of tools': { finishReason: 'tool_calls', toolCalls: [call(), call()] },
    'a call with cut arguments': { toolCalls: [{ ...call(), arguments: '{"a": "' }] },
  };
  return Object.entries(answers).map(([name, given]): AnyUnitCase => {
    const details = { ...TEXT_ALONE, ...given };
    const halves = { requestCommitment: random.bytes(32), answerDetails: answerDetails(details) };
    return {
      ...{ kind: 'statement', name },
      input: {
        request_commitment: bytesToHex(halves.requestCommitment),
        details: {
          ...{ finish_reason: details.finishReason, truncated: details.truncated },
          ...{ reasoning: details.reasoning, tool_calls: toolCallsAsJson(details.toolCalls) },
        },
      },
      expected: {
        answer_details: bytesToHex(halves.answerDetails),
        statement: bytesToHex(statementOf(halves)),
      },
    };
  });
}

function receiptCases(random: Random): AnyUnitCase[] {
  const job = drawKeypair(random).publicKey;
  const signer = drawKeypair(random);
  const [outputHash, statement] = [random.bytes(32), random.bytes(32)];
  const message = receiptMessage({ programId: PROGRAM_ID, job, outputHash, statement });
  const signature = signHashed(message, signer);
  return [
    {
      ...{ kind: 'receipt_message', name: 'drawn' },
      input: {
        job: job.toBase58(),
        output_hash: bytesToHex(outputHash),
        statement: bytesToHex(statement),
      },
      expected: signedForm(message),
    },
    {
      ...{ kind: 'receipt', name: 'as a gateway writes it' },
      input: { receipt: formatReceipt(signer.publicKey, signature) },
      expected: { signer: signer.publicKey.toBase58(), signature: bytesToHex(signature) },
    },
  ];
}
