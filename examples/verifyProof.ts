// Checks offline what was signed for a text: no ledger and no service, only two public keys.
import { createHash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import {
  PROGRAM_ID,
  parseReceipt,
  proofMessage,
  receiptMessage,
  verifySignature,
} from '@svc-inference/client';

// The answer as it was received, and the receipt that came with it in x-svc-delivery-receipt.
const text = 'Hello from a worker.';
const receiptHeader =
  '9vdi8ctFHqC88qqRwnPNn1pLwfeTupoxBoL1UPvSk61Y.' +
  'QE-WXLNgMq_106zZN9NqdNSUCSQdyUcuygHzpZ9qXYmufOpXF2Y9ymvmyGVeXUpq_ErJB6tRKm6v0ak0601EAw';

// What the ledger says of the job and its worker; the signature stands in the ed25519 instruction
// of the transaction that proved the job.
const job = new PublicKey('EDAQaQmnXap6iUcPaTYhkHQUneZtH2endNAJgWzVZ1Xj');
const settledBy = new PublicKey('9vdi8ctFHqC88qqRwnPNn1pLwfeTupoxBoL1UPvSk61Y');
const worker = new PublicKey('CKUHJCc219jKpSaEo3GBMD1oGFxoDjycK6gSuaHJeWNc');
const proofKey = new PublicKey('HWCTr5wE3tvt8NqC46k3hEF1zYfcbApL9pTcWnD6jACv');
const counts = { attempt: 1, promptTokens: 12, completionTokens: 5 };
const signature = Buffer.from(
  '1jUtURMkSZRgNAzY5FcNyDZ+Jeyd4R7qVs3gdEaqU9z8dwzUnRWx2WBT0+Z+rKfHvwPjol3JHgM8/xHNlH0ADg==',
  'base64',
);

/** Whether the worker signed exactly this text for this job. */
function isProven(received: string): boolean {
  const outputHash = createHash('sha256').update(received).digest();
  const message = proofMessage({ programId: PROGRAM_ID, job, worker, outputHash, ...counts });
  return verifySignature({ publicKey: proofKey, message, signature });
}

/** Whether the key that settled the job signed that exactly this text was delivered. */
function isReceipted(received: string): boolean {
  const receipt = parseReceipt(receiptHeader);
  if (receipt === undefined || !receipt.signer.equals(settledBy)) return false;
  const outputHash = createHash('sha256').update(received).digest();
  const message = receiptMessage({ programId: PROGRAM_ID, job, outputHash });
  return verifySignature({ publicKey: receipt.signer, message, signature: receipt.signature });
}

console.log(`"${text}" is proven: ${isProven(text)}, receipted: ${isReceipted(text)}`);
const other = 'Hello from a worker!';
console.log(`"${other}" is proven: ${isProven(other)}, receipted: ${isReceipted(other)}`);
