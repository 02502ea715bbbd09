// Checks offline what was signed for a text: no ledger and no service, only two public keys.
import { createHash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import {
  PROGRAM_ID,
  parseReceipt,
  proofMessage,
  receiptMessage,
  verifyHashed,
} from '@svc-inference/client';

// The answer as it was received, and the receipt that came with it in x-svc-delivery-receipt.
const text = 'Hello from a worker.';
const receiptHeader =
  'BRj9gf1KVxDuybjkHpsbqCSjhqEKTxFpy7qEPmdq2e1D.' +
  'CUi3f1iyOrvJey8Ap0ze0VP_i_V5_K5iDY6RE2lG4CRvaS0m-s9KPmrWC_CtwQhA9Bl9O54ytPBfBckTg5OcAg';

// What the ledger says of the job and its worker. The commitment to the request stands in the event,
// and the signature in the arguments, of the instruction that proved the job.
const job = new PublicKey('EDAQaQmnXap6iUcPaTYhkHQUneZtH2endNAJgWzVZ1Xj');
const settledBy = new PublicKey('BRj9gf1KVxDuybjkHpsbqCSjhqEKTxFpy7qEPmdq2e1D');
const worker = new PublicKey('CKUHJCc219jKpSaEo3GBMD1oGFxoDjycK6gSuaHJeWNc');
const proofKey = new PublicKey('3RtA3mtrrZ7qeHHEfJPDY3XC1uVU8WWN6zxtZmwqGAjs');
const counts = { attempt: 1, promptTokens: 12, completionTokens: 5 };
const requestCommitment = Buffer.from(
  'cbeae075c7fc8bba9d9f6449a690f0ea76d81f8997fc6b3cc5dee1586d4d92d7',
  'hex',
);
const signature = Buffer.from(
  'v8YsRu4rC+1wPVp1GlbrUfpU3QuKrqBl68bbBWotChAY8rVr31XvPQ5UTi2XZqWCUkqrXZLrEaeHAXPvgTauAQ==',
  'base64',
);

/** Whether the worker signed exactly this text for this job. */
function isProven(received: string): boolean {
  const outputHash = createHash('sha256').update(received).digest();
  const output = { outputHash, requestCommitment, ...counts };
  const message = proofMessage({ programId: PROGRAM_ID, job, worker, ...output });
  return verifyHashed({ publicKey: proofKey, message, signature });
}

/** Whether the key that settled the job signed that exactly this text was delivered. */
function isReceipted(received: string): boolean {
  const receipt = parseReceipt(receiptHeader);
  if (receipt === undefined || !receipt.signer.equals(settledBy)) return false;
  const outputHash = createHash('sha256').update(received).digest();
  const message = receiptMessage({ programId: PROGRAM_ID, job, outputHash });
  return verifyHashed({ publicKey: receipt.signer, message, signature: receipt.signature });
}

console.log(`"${text}" is proven: ${isProven(text)}, receipted: ${isReceipted(text)}`);
const other = 'Hello from a worker!';
console.log(`"${other}" is proven: ${isProven(other)}, receipted: ${isReceipted(other)}`);
