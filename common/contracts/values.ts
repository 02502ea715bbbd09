import { z } from 'zod';

// What the API's objects and the webhooks' events are made of, each described once.

export const jobId = z.string().regex(/^job_[0-9a-f]{32}$/, { error: 'must be a job id' });

export const sha256Hash = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/)
  .describe('`sha256:` and 64 lower-case hexadecimal digits.');

export const ledgerAddress = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
  .describe('A ledger address, base58.');

export const transactionSignature = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/)
  .describe('The signature of a ledger transaction, base58.');

export const credits = z.int().min(0);

export const tokens = z.int().min(0);

export const slot = z.int().min(0).describe('A slot of the ledger.');

export const usdc = z.number().min(0).describe('Stablecoin units; one credit is 0.01.');

export const time = z.iso.datetime().describe('ISO 8601, UTC.');
