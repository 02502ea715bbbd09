import { isDeepStrictEqual } from 'node:util';
import { PublicKey } from '@solana/web3.js';
import { IDL } from '../../../programs/client/codec.ts';
import { decodeEventData } from '../../../programs/client/events.ts';
import {
  createAddresses,
  PROGRAM_ID,
  parseJobId,
  parseReceipt,
  receiptMessage,
} from '../../../programs/client/index.ts';
import { camelCase } from '../../../programs/client/interface.ts';
import { parseJson } from '../../../programs/client/parseJson.ts';
import { bytesToHex, hexToBytes, utf8 } from '../../../programs/client/platform/bytes.ts';
import {
  canonicalJson,
  type Json,
  requestCommitment,
  verifyHashed,
} from '../../../programs/client/proof.ts';
import { answerDetails, statementOf } from '../../../programs/client/statement.ts';
import { readAnswer, type SavedAnswer } from '../../../programs/client/verify/answer/readAnswer.ts';
import { readRequest } from '../../../programs/client/verify/answer/sentRequest.ts';
import { toolCallsIn } from '../../../programs/client/verify/answer/toolCalls.ts';
import type { Check } from '../../../programs/client/verify/check.ts';
import {
  type ClientEvidence,
  evidenceIn,
} from '../../../programs/client/verify/job/clientEvidence.ts';
import {
  type AnyUnitCase,
  type JobCase,
  REFUSED,
  type RequestInput,
  type StatementInput,
  type VectorCase,
  type Vectors,
} from './cases.ts';
import { messageOfProof, signedForm } from './messageCases.ts';
import { connectSnapshot, withChanges } from './snapshot.ts';
import { asExpected, checksOf } from './verdict.ts';

const addresses = createAddresses();

/** What our code says of a case, to be compared with what it expects. */
export async function resultOf(one: VectorCase, { nodes }: Vectors): Promise<unknown> {
  try {
    return one.kind === 'job' ? asExpected(await judgeJob(one, nodes)) : compute(one);
  } catch {
    return REFUSED;
  }
}

/** Where our code says something else than a case expects. */
export async function differencesIn(vectors: Vectors) {
  const judged = vectors.cases.map(async (one) => {
    const result = await resultOf(one, vectors);
    const { expected } = one;
    return isDeepStrictEqual(result, expected) ? [] : [{ title: titleOf(one), expected, result }];
  });
  return (await Promise.all(judged)).flat();
}

export const titleOf = ({ kind, name }: VectorCase): string => `${kind}: ${name}`;

/** What our verification says of a case's job, by what its client holds. */
export async function judgeJob(
  one: Omit<JobCase, 'expected'>,
  nodes: Vectors['nodes'],
): Promise<readonly Check[]> {
  const shared = nodes[one.node];
  if (!shared) throw new Error(`There is no node ${one.node}`);
  const answer = one.answer === undefined ? undefined : readAnswer(one.answer);
  const client: ClientEvidence = {
    ...(answer && evidenceIn(answer)),
    ...(one.output !== undefined && { output: utf8(one.output) }),
    ...(one.receipt !== undefined && { receipt: one.receipt }),
    ...(one.salt !== undefined && { salt: hexToBytes(one.salt) }),
    ...(one.answer_details !== undefined && { answerDetails: hexToBytes(one.answer_details) }),
    ...(one.request !== undefined && { request: readRequest(one.request) }),
    card: one.card,
  };
  const job = one.job ?? addressIn(answer);
  return checksOf(connectSnapshot(withChanges(shared, one.changes)), job, client);
}

function addressIn(answer: SavedAnswer | undefined): string {
  const { jobId, wallet } = orRefuse(answer);
  return computeAddress({ job_id: jobId, wallet: orRefuse(wallet) }).address;
}

function compute(one: AnyUnitCase) {
  switch (one.kind) {
    case 'canonical_json':
      return { canonical: canonicalJson(parseJson(one.input.json) as Json) };
    case 'commitment': {
      const request = parseJson(one.input.request) as Json;
      return { commitment: bytesToHex(requestCommitment(hexToBytes(one.input.salt), request)) };
    }
    case 'job_id':
      return computeAddress(one.input);
    case 'proof_message':
      return signedForm(messageOfProof(one.input));
    case 'receipt_message': {
      const { job, output_hash, statement } = one.input;
      const named = { programId: PROGRAM_ID, job: new PublicKey(job) };
      const hashes = { outputHash: hexToBytes(output_hash), statement: hexToBytes(statement) };
      return signedForm(receiptMessage({ ...named, ...hashes }));
    }
    case 'statement':
      return statementResult(one.input);
    case 'receipt': {
      const { signer, signature } = orRefuse(parseReceipt(one.input.receipt));
      return { signer: signer.toBase58(), signature: bytesToHex(signature) };
    }
    case 'signature': {
      const { public_key, message, signature } = one.input;
      const publicKey = new PublicKey(public_key);
      const bytes = { message: hexToBytes(message), signature: hexToBytes(signature) };
      return { holds: verifyHashed({ publicKey, ...bytes }) };
    }
    case 'answer':
      return answerResult('saved' in one.input ? one.input.saved : hexToBytes(one.input.bytes));
    case 'request':
      return requestResult(one.input);
    case 'event':
      return readEvent(hexToBytes(one.input.data));
  }
}

/** What a saved answer says of itself. */
function answerResult(saved: string | Uint8Array) {
  const { jobId, wallet = null, text = null, details: said, svc } = readAnswer(saved);
  const { request_salt = null, delivery_receipt = null } = svc ?? {};
  const details = said === undefined ? null : bytesToHex(answerDetails(said));
  return { job_id: jobId, wallet, text, request_salt, delivery_receipt, details };
}

function statementResult({ request_commitment, details }: StatementInput) {
  const { finish_reason, truncated, reasoning, tool_calls } = details;
  const hash = answerDetails({
    ...{ finishReason: finish_reason, truncated: truncated as 'deadline' | null, reasoning },
    toolCalls: toolCallsIn([tool_calls], false),
  });
  const requestCommitment = hexToBytes(request_commitment);
  const statement = statementOf({ requestCommitment, answerDetails: hash });
  return { answer_details: bytesToHex(hash), statement: bytesToHex(statement) };
}

/** The commitment to a request as it was sent, with the token limit that was locked. */
function requestResult({ request, salt, token_limit }: RequestInput) {
  const asked = { ...readRequest(request).chat, token_limit };
  return { commitment: bytesToHex(requestCommitment(hexToBytes(salt), asked)) };
}

function orRefuse<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('refused');
  return value;
}

function computeAddress({ job_id, wallet }: { job_id: string; wallet: string }) {
  const bytes = orRefuse(parseJobId(job_id));
  const creditAccount = addresses.creditAccount(new PublicKey(wallet));
  return {
    bytes: bytesToHex(bytes),
    credit_account: creditAccount.toBase58(),
    address: addresses.job(creditAccount, bytes).toBase58(),
  };
}

/** With names and values as the file has them. */
function readEvent(bytes: Uint8Array) {
  const { name, data } = decodeEventData(bytes);
  const struct = IDL.types.find((type) => type.name === name)?.type;
  const fields = struct?.kind === 'struct' ? struct.fields : [];
  const values = data as unknown as Record<string, unknown>;
  const entries = fields.map((field) => [field.name, written(values[camelCase(field.name)])]);
  return { name, fields: Object.fromEntries(entries) };
}

function written(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof PublicKey) return value.toBase58();
  if (value instanceof Uint8Array) return bytesToHex(value);
  return Array.isArray(value) ? value.map(written) : value;
}
