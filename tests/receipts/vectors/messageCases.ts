import { PublicKey } from '@solana/web3.js';
import {
  createAddresses,
  createJobIds,
  formatJobId,
  formatReceipt,
  PROGRAM_ID,
  parseJobId,
  parseReceipt,
  proofMessage,
  receiptMessage,
  signHashed,
} from '../../../programs/client/index.ts';
import { bytesToHex, hexToBytes } from '../../../programs/client/platform/bytes.ts';
import { sha256 } from '../../../programs/client/platform/crypto.node.ts';
import type { Random } from '../../../testing/random.ts';
import { type AnyUnitCase, type ProofInput, type Refused, resultOrRefusal } from './cases.ts';
import { drawKeypair } from './drawKeypair.ts';

const addresses = createAddresses();
const REFUSED: Refused = { refused: true };

/** Job ids and addresses, and what workers and gateways sign. */
export function messageCases(random: Random): AnyUnitCase[] {
  return [...jobIdCases(random), ...proofCases(random), ...receiptCases(random)];
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
  const idCase = (name: string, jobId: string): AnyUnitCase => {
    const bytes = parseJobId(jobId);
    const expected = bytes
      ? {
          bytes: bytesToHex(bytes),
          credit_account: creditAccount.toBase58(),
          address: addresses.job(creditAccount, bytes).toBase58(),
        }
      : REFUSED;
    return { kind: 'job_id', name, input: { job_id: jobId, wallet: wallet.toBase58() }, expected };
  };
  const right = drawJobId(random, creditAccount);
  const wrong = {
    'in upper case': right.replace('job_', '').toUpperCase().replace(/^/, 'job_'),
    'without its prefix': right.slice(4),
    'a digit short': right.slice(0, -1),
    'a digit more': `${right}0`,
    'with hyphens': `job_${right.slice(4, 12)}-${right.slice(12)}`,
    'of another version': right.replace(/^(job_.{12})7/, '$14'),
    'of another variant': right.replace(/^(job_.{16})./, '$1c'),
    'with a space behind it': `${right} `,
    'with a line end behind it': `${right}\n`,
  };
  return [
    idCase('with every digit', 'job_0123456789ab7cde8f0123456789abcd'),
    idCase('with every digit, in another order', 'job_fedcba9876547012bfedcba987654321'),
    ...Array.from({ length: 4 }, (_, at) =>
      idCase(`drawn ${at + 1}`, drawJobId(random, creditAccount)),
    ),
    ...Object.entries(wrong).map(([name, jobId]) => idCase(`refused: ${name}`, jobId)),
  ];
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
    request_commitment: bytesToHex(random.bytes(32)),
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
    requestCommitment: hexToBytes(proof.request_commitment),
  });
}

const signedForm = (message: Uint8Array) => ({
  message: bytesToHex(message),
  sha256: bytesToHex(sha256(message)),
});

function proofCases(random: Random): AnyUnitCase[] {
  const right = drawProof(random);
  const inputs: Record<string, ProofInput> = {
    'drawn 1': right,
    'drawn 2': drawProof(random),
    'all numbers at their least': {
      ...{ ...right, attempt: 0, prompt_tokens: 0, completion_tokens: 0 },
      output_hash: '00'.repeat(32),
    },
    'all numbers at their most': {
      ...{ ...right, attempt: 255 },
      ...{ prompt_tokens: 0xffff_ffff, completion_tokens: 0xffff_ffff },
    },
    'refused: an attempt beyond a byte': { ...right, attempt: 256 },
    'refused: a negative attempt': { ...right, attempt: -1 },
    'refused: tokens beyond 32 bits': { ...right, completion_tokens: 2 ** 32 },
    'refused: a short hash': { ...right, output_hash: '00'.repeat(31) },
    'refused: a long commitment': { ...right, request_commitment: '00'.repeat(33) },
  };
  return Object.entries(inputs).map(([name, input]) => ({
    kind: 'proof_message',
    name,
    input,
    expected: resultOrRefusal(() => signedForm(messageOfProof(input))),
  }));
}

function receiptCases(random: Random): AnyUnitCase[] {
  const job = drawKeypair(random).publicKey;
  const signer = drawKeypair(random);
  const outputHash = random.bytes(32);
  const message = receiptMessage({ programId: PROGRAM_ID, job, outputHash });
  const right = formatReceipt(signer.publicKey, signHashed(message, signer));
  const [key = '', signature = ''] = right.split('.');
  const texts = {
    'as a gateway writes it': right,
    'refused: no signature': key,
    'refused: nothing': '',
    'refused: three parts': `${right}.${signature}`,
    'refused: with padding': `${right}==`,
    'refused: in the other base64': `${key}.${'+/'.repeat(43)}`,
    'refused: a signature a byte short': `${key}.${signature.slice(0, -2)}`,
    'refused: bits behind the last byte': `${key}.${signature.slice(0, -1)}${laterLetter(signature)}`,
    'refused: a key that is no base58': `${key.slice(0, -1)}0.${signature}`,
    'refused: a key with a zero more': `1${key}.${signature}`,
    'refused: a space before it': ` ${right}`,
    'refused: a line end behind it': `${right}\n`,
  };
  return [
    {
      kind: 'receipt_message',
      name: 'drawn',
      input: { job: job.toBase58(), output_hash: bytesToHex(outputHash) },
      expected: signedForm(message),
    },
    ...Object.entries(texts).map(([name, receipt]) => receiptCase(name, receipt)),
  ];
}

/** 64 bytes leave two bits of the last letter that have to be zero. */
function laterLetter(signature: string): string {
  const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return LETTERS[LETTERS.indexOf(signature.at(-1) ?? '') + 1] ?? '';
}

function receiptCase(name: string, receipt: string): AnyUnitCase {
  const found = parseReceipt(receipt);
  const expected = found
    ? { signer: found.signer.toBase58(), signature: bytesToHex(found.signature) }
    : REFUSED;
  return { kind: 'receipt', name, input: { receipt }, expected };
}
