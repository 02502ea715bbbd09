import { isDeepStrictEqual } from 'node:util';
import type { PublicKey } from '@solana/web3.js';
import type { ClientEvidence } from '../../../programs/client/verify/job/clientEvidence.ts';
import type { Forgery, ForgingNode } from '../../auditors/forgeries/node.ts';
import type { ExpectedVerdict, JobCase } from './cases.ts';
import { changesFrom, readListed, record } from './record.ts';
import { connectSnapshot, type LedgerSnapshot, withChanges } from './snapshot.ts';
import { verdictOf } from './verdict.ts';

/** A shared snapshot, and what is to be found in it. */
export interface NodeCases {
  readonly name: string;
  readonly node: LedgerSnapshot;
  readonly cases: readonly JobCase[];
}

/** A lie about a job, or something else that a node may show. */
export interface Sight {
  readonly name: string;
  readonly job: PublicKey;
  /** By default the node does not lie. */
  readonly forgery?: Forgery;
  /** Base64 of an unknown version says less than a node's JSON. */
  readonly saysLess?: boolean;
}

/** Each job as it is seen, beside what the node shows without a lie. */
export async function casesOf(
  node: ForgingNode,
  name: string,
  sights: readonly Sight[],
): Promise<NodeCases> {
  const shared = await recordJobs(
    node,
    sights.map(({ job }) => job),
  );
  const cases = await Promise.all(sights.map((sight) => caseOf(node, { name, shared }, sight)));
  return { name, node: shared, cases };
}

/** @param client what is compared, where that makes a verification read more */
export async function recordJobs(
  node: ForgingNode,
  jobs: readonly PublicKey[],
  client: ClientEvidence = {},
): Promise<LedgerSnapshot> {
  const recording = record(node);
  for (const job of jobs) await verdictOf(recording.connection, job.toBase58(), client);
  await readListed(recording);
  return recording.snapshot();
}

/** @throws Error where a snapshot says something else than the node that it was made of */
async function caseOf(
  node: ForgingNode,
  { name: nodeName, shared }: { name: string; shared: LedgerSnapshot },
  { name, job: address, forgery = {}, saysLess = false }: Sight,
): Promise<JobCase> {
  const job = address.toBase58();
  const recording = record(node, forgery);
  const seen = await verdictOf(recording.connection, job);
  const changes = changesFrom(shared, recording.snapshot());
  const expected = await verdictOf(connectSnapshot(withChanges(shared, changes)), job);
  if (!saysLess && !isDeepStrictEqual(expected, seen))
    throw new Error(differenceOf(name, expected, seen));
  const isChanged = Object.keys(changes).length > 0;
  return {
    ...{ kind: 'job', name: `${nodeName}: ${name}`, node: nodeName },
    ...(isChanged && { changes }),
    ...{ job, expected },
  };
}

const differenceOf = (name: string, ...verdicts: ExpectedVerdict[]): string =>
  `${name}: ${verdicts.map((verdict) => JSON.stringify(verdict)).join(' is not ')}`;
