import { Keypair } from '@solana/web3.js';
import {
  createAddresses,
  formatReceipt,
  PROGRAM_ID,
  parseJobId,
  proofMessage,
  receiptMessage,
  signHashed,
} from '../../programs/client/index.ts';
import { bytesToHex, utf8 } from '../../programs/client/platform/bytes.ts';
import { sha256 } from '../../programs/client/platform/node.ts';
import { canonicalJson, type Json, requestCommitment } from '../../programs/client/proof.ts';
import { answerDetails, statementOf } from '../../programs/client/statement.ts';
import { TEXT_ALONE } from '../../testing/textAlone.ts';

/** The body that a client sends, as the page has it. */
export const BODY = `{
  "model": "qwen3-8b",
  "stream": true,
  "messages": [
    {"role": "developer", "content": "Answer in one word."},
    {"role": "user", "name": "ada", "content": [
      {"type": "text", "text": "Which city has the "},
      {"type": "text", "text": "Eiffel tower? €"}
    ]}
  ],
  "stop": "\\n",
  "temperature": 0.70,
  "seed": 7e0,
  "logit_bias": {"15": -100},
  "tools": [],
  "top_p": null,
  "max_tokens": 500
}`;

/** What the worker is given of it. */
export const REQUEST = {
  model: 'qwen3-8b',
  messages: [
    { role: 'system', content: 'Answer in one word.' },
    { role: 'user', content: 'Which city has the Eiffel tower? €' },
  ],
  stop: ['\n'],
  temperature: 0.7,
  seed: 7,
  logit_bias: { '15': -100 },
  token_limit: 500,
};

const TEXT = 'Paris';
/** An id for which the program takes the address of this wallet's job. */
const JOB_ID = 'job_0193a5c0d1e07000a1b2c3d4e5f60714';
const ATTEMPT = 1;
const COUNTS = { promptTokens: 21, completionTokens: 2 };

/** The values of the page's examples, each by what the page calls it. */
export function pageExamples(): Record<string, string> {
  const [wallet, authority, proofKey, gateway] = [keyOf(1), keyOf(2), keyOf(3), keyOf(4)];
  const addresses = createAddresses(PROGRAM_ID);
  const creditAccount = addresses.creditAccount(wallet.publicKey);
  const job = addresses.newJob(creditAccount, parseJobId(JOB_ID) ?? new Uint8Array());
  if (!job) throw new Error('The program takes no job of this id');
  const salt = Uint8Array.from({ length: 32 }, (_, at) => at);
  const canonical = canonicalJson(REQUEST as Json);
  const halves = {
    requestCommitment: requestCommitment(salt, REQUEST as Json),
    answerDetails: answerDetails(TEXT_ALONE),
  };
  const proof = {
    ...{ programId: PROGRAM_ID, job, worker: addresses.worker(authority.publicKey) },
    ...{ attempt: ATTEMPT, outputHash: sha256(utf8(TEXT)), ...COUNTS },
    statement: statementOf(halves),
  };
  const message = proofMessage(proof);
  const { outputHash, statement } = proof;
  const receipt = receiptMessage({ programId: PROGRAM_ID, job, outputHash, statement });
  return {
    program: PROGRAM_ID.toBase58(),
    'event authority': addresses.eventAuthority.toBase58(),
    vault: addresses.vault.toBase58(),
    'treasury vault': addresses.treasuryVault.toBase58(),
    wallet: wallet.publicKey.toBase58(),
    'credit account': creditAccount.toBase58(),
    'job id': JOB_ID,
    job: job.toBase58(),
    "worker's authority": authority.publicKey.toBase58(),
    worker: proof.worker.toBase58(),
    'model qwen3-8b': addresses.model('qwen3-8b').toBase58(),
    'canonical request': canonical,
    'sha256 of it': bytesToHex(sha256(utf8(canonical))),
    salt: bytesToHex(salt),
    'request commitment': bytesToHex(halves.requestCommitment),
    'answer details': bytesToHex(halves.answerDetails),
    statement: bytesToHex(statement),
    'output hash': bytesToHex(proof.outputHash),
    'proof message': bytesToHex(message),
    'sha256 of the proof': bytesToHex(sha256(message)),
    'proof key': proofKey.publicKey.toBase58(),
    "worker's signature": bytesToHex(signHashed(message, proofKey)),
    'receipt message': bytesToHex(receipt),
    'sha256 of the receipt': bytesToHex(sha256(receipt)),
    receipt: formatReceipt(gateway.publicKey, signHashed(receipt, gateway)),
  };
}

/** Of the secret key of 32 equal bytes. */
const keyOf = (byte: number): Keypair => Keypair.fromSeed(new Uint8Array(32).fill(byte));
