import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import { checkout } from '../../../programs/tools/artifacts.ts';
import type { JobCase, Vectors } from './cases.ts';
import type { LedgerSnapshot } from './snapshot.ts';

export const FILE = join(checkout, 'receipts/vectors.json');
export const TEXT = readFileSync(FILE, 'utf8');
/** The vectors of the repository. */
export const COMMITTED = JSON.parse(TEXT) as Vectors;

export const JOB_CASES = COMMITTED.cases.filter((one): one is JobCase => one.kind === 'job');

export function nodeNamed(name: string): LedgerSnapshot {
  const node = COMMITTED.nodes[name];
  if (!node) throw new Error(`there is no node ${name}`);
  return node;
}

/** @param name the node's, and what its case is about */
export function jobNamed(name: string): PublicKey {
  const job = JOB_CASES.find((one) => one.name === name)?.job;
  if (!job) throw new Error(`there is no case ${name}`);
  return new PublicKey(job);
}
