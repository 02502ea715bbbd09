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
  '5TDEZfJ687wkgjUPF9P2ELvsk4nUMUebX4hfTyT4G9uM.' +
  'wt6SW2WUajD2YuIRXOc3VAfiIPi9or5f3AHXls-_d-oVasOWGejrga7vYuRv6e0jMUqEPZQY2-QBUzKq8P7aBg';

// What the ledger says of the job and its worker. The signature is an argument of the instruction
// that proved the job.
const job = new PublicKey('EDAQaQmnXap6iUcPaTYhkHQUneZtH2endNAJgWzVZ1Xj');
const settledBy = new PublicKey('5TDEZfJ687wkgjUPF9P2ELvsk4nUMUebX4hfTyT4G9uM');
const worker = new PublicKey('CKUHJCc219jKpSaEo3GBMD1oGFxoDjycK6gSuaHJeWNc');
const proofKey = new PublicKey('V2DsdKndMDGPuDT5FuC6S2TsuSrDeTfEmURXcaARjsE');
const proof = {
  attempt: 1,
  promptTokens: 12,
  completionTokens: 5,
  requestCommitment: Buffer.from('kNoUilXHm2B+fltmU3/ThveWr6kjW+AQehDuPbIZ/ps=', 'base64'),
};
const signature = Buffer.from(
  'nicTtHzs7aPNytE3q1iZF96zuQVk71VC0uqHt6osOjS5tuVhOUR0IhrYU/Wt7oPaIaoTydofkxlVYgBt0+/SBg==',
  'base64',
);

/** Whether the worker signed exactly this text for this job: the sha256 of the message. */
function isProven(received: string): boolean {
  const outputHash = createHash('sha256').update(received).digest();
  const message = proofMessage({ programId: PROGRAM_ID, job, worker, outputHash, ...proof });
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
