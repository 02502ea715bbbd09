// Checks offline what was signed for a text: no ledger and no service, only two public keys.
import { createHash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import {
  PROGRAM_ID,
  parseReceipt,
  proofMessage,
  receiptMessage,
  statementOf,
  verifyHashed,
} from '@svc-inference/client';

// The answer as it was received, and the receipt that came with it in x-svc-delivery-receipt.
const text = 'Hello from a worker.';
const receiptHeader =
  '37JNX8dUK7HSLrShccgeYGPKHHiwudcPSahcfdbHtzyx.' +
  'cXfMSP4h6HGGwkcfgsGkKlAHXMZbwWAxxd2XoOtcEUunkf5_Dvl-x0PhWRIcFT4bkH1epFaEeX07TLqTLW8QAg';
// Both halves of what else was signed, as the answer's svc has them.
const requestCommitment = '1a81140d0310550c5cae09605cc2ce20831cd749c09fdac6d157c00ec0bf95a1';
const answerDetails = '5f5de04abda078cf30e649dd3dcb713f46ce93e44695610f11f923289263d7f6';

// What the ledger says of the job and its worker. The signature is an argument of the instruction
// that proved the job.
const job = new PublicKey('EDAQaQmnXap6iUcPaTYhkHQUneZtH2endNAJgWzVZ1Xj');
const settledBy = new PublicKey('37JNX8dUK7HSLrShccgeYGPKHHiwudcPSahcfdbHtzyx');
const worker = new PublicKey('CKUHJCc219jKpSaEo3GBMD1oGFxoDjycK6gSuaHJeWNc');
const proofKey = new PublicKey('9jbhKV3UxfU4mnXEAFDL4ksSuKGHe6uiUg2XsXJjVFTb');
const proof = { attempt: 1, promptTokens: 12, completionTokens: 5 };
const signature = Buffer.from(
  'eoC/jtcw3WVhZJotLCGP3pj7fOZIMcApPZSWBI82SKbWNLVgh5fAW80LZz8DMwkurlh+IV9/KiPiA8s6NmTRBw==',
  'base64',
);

const statement = statementOf({
  requestCommitment: Buffer.from(requestCommitment, 'hex'),
  answerDetails: Buffer.from(answerDetails, 'hex'),
});

/** Whether the worker signed exactly this text for this job: the sha256 of the message. */
function isProven(received: string): boolean {
  const outputHash = createHash('sha256').update(received).digest();
  const message = proofMessage({
    ...{ programId: PROGRAM_ID, job, worker, outputHash, statement },
    ...proof,
  });
  return verifyHashed({ publicKey: proofKey, message, signature });
}

/** Whether the key that settled the job signed that exactly this text was delivered. */
function isReceipted(received: string): boolean {
  const receipt = parseReceipt(receiptHeader);
  if (receipt === undefined || !receipt.signer.equals(settledBy)) return false;
  const outputHash = createHash('sha256').update(received).digest();
  const message = receiptMessage({ programId: PROGRAM_ID, job, outputHash, statement });
  return verifyHashed({ publicKey: receipt.signer, message, signature: receipt.signature });
}

console.log(`"${text}" is proven: ${isProven(text)}, receipted: ${isReceipted(text)}`);
const other = 'Hello from a worker!';
console.log(`"${other}" is proven: ${isProven(other)}, receipted: ${isReceipted(other)}`);
