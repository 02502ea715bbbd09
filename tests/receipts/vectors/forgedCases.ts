import { isDeepStrictEqual } from 'node:util';
import { base58 } from '@scure/base';
import type { PublicKey } from '@solana/web3.js';
import { createForgedScene, type ForgedScene, JOB_NAMES } from '../../auditors/forgedScene.ts';
import { FORGERIES } from '../../auditors/forgeries/all.ts';
import {
  eventInstructions,
  inTransactionOf,
  ofUnknownVersion,
} from '../../auditors/forgeries/forge.ts';
import type { Forgery, ListedJson } from '../../auditors/forgeries/node.ts';
import { boundaries } from './boundaryCases.ts';
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
  readonly forgery: Forgery;
  /** Base64 of an unknown version says less than a node's JSON. */
  readonly saysLess?: boolean;
}

/**
 * Jobs that ended in every way, seen through an honest node, and through nodes that lie.
 *
 * @param options.version of the jobs' transactions. Those of version 1 differ in the signed bytes
 *   alone, so only the lies about these are among them
 */
export async function forgedCases(version: 0 | 1): Promise<NodeCases> {
  const scene = await createForgedScene({ version });
  try {
    const honest = JOB_NAMES.map((name) => ({ name, job: scene.jobs[name], forgery: {} }));
    const node = await recordAll(scene, honest);
    const lies = FORGERIES.filter(
      ({ fails }) => version === 0 || fails.includes('history.signatures'),
    ).map(({ what, job, forgery }) => ({
      name: `${what} (${job})`,
      job: scene.jobs[job],
      forgery: forgery(scene.jobs),
    }));
    const others =
      version === 0
        ? [...omissions(scene), ...unknownVersions(scene), ...(await boundaries(scene))]
        : [];
    const name = version === 0 ? 'legacy' : 'version 1';
    const cases = await Promise.all(
      [...honest, ...lies, ...others].map((sight) => caseOf(scene, { name, node }, sight)),
    );
    return { name, node, cases };
  } finally {
    await scene.ledger.close();
  }
}

async function recordAll(scene: ForgedScene, sights: readonly Sight[]): Promise<LedgerSnapshot> {
  const recording = record(scene.node);
  for (const { job } of sights) await verdictOf(recording.connection, job.toBase58());
  await readListed(recording);
  return recording.snapshot();
}

/** @throws Error where a snapshot says something else than the node that it was made of */
async function caseOf(
  scene: ForgedScene,
  shared: { name: string; node: LedgerSnapshot },
  { name, job: address, forgery, saysLess = false }: Sight,
): Promise<JobCase> {
  const job = address.toBase58();
  const recording = record(scene.node, forgery);
  const seen = await verdictOf(recording.connection, job);
  const changes = changesFrom(shared.node, recording.snapshot());
  const expected = await verdictOf(connectSnapshot(withChanges(shared.node, changes)), job);
  if (!saysLess && !isDeepStrictEqual(expected, seen))
    throw new Error(differenceOf(name, expected, seen));
  const isChanged = Object.keys(changes).length > 0;
  return {
    ...{ kind: 'job', name: `${shared.name}: ${name}`, node: shared.name },
    ...(isChanged && { changes }),
    ...{ job, expected },
  };
}

const differenceOf = (name: string, ...verdicts: ExpectedVerdict[]): string =>
  `${name}: ${verdicts.map((verdict) => JSON.stringify(verdict)).join(' is not ')}`;

/** What a node may keep to itself. */
function omissions(scene: ForgedScene): Sight[] {
  const { jobs, service } = scene;
  const without = (event: string): Forgery => ({
    transaction: (transaction) =>
      eventInstructions(transaction, event).length > 0 ? null : transaction,
  });
  const unlisted = (of: PublicKey): Forgery => ({
    listing: (listing, address) => (address === of.toBase58() ? [] : listing),
  });
  const hidden = [
    ['settled', 'JobLocked'],
    ['settled', 'JobAcknowledged'],
    ['settled', 'JobSettled'],
    ['completed', 'JobCompleted'],
    ['alone', 'JobProven'],
    ['expired', 'JobDisputed'],
    ['expired', 'DisputeExpired'],
    ['closed', 'JobClosed'],
  ] as const;
  const anotherProgram = inTransactionOf('JobSettled', (transaction) => {
    for (const event of eventInstructions(transaction, 'JobSettled')) event.programIdIndex = 0;
  });
  return [
    ...hidden.map(([job, event]) => ({
      ...{ name: `without its ${event} (${job})`, job: jobs[job], forgery: without(event) },
    })),
    {
      ...{ name: 'without the newest entry of its list', job: jobs.settled },
      forgery: {
        listing: (listing, address) =>
          address === jobs.settled.toBase58() ? listing.slice(1) : listing,
      },
    },
    {
      ...{ name: 'without its account', job: jobs.settled },
      forgery: {
        account: (_account, address) => (address === jobs.settled.toBase58() ? null : undefined),
      },
    },
    {
      ...{ name: 'without what the worker’s authority signed', job: jobs.settled },
      forgery: unlisted(service.workerAuthority.publicKey),
    },
    {
      ...{ name: 'without the list of the credit account', job: jobs.settled },
      forgery: unlisted(service.creditAccount),
    },
    { name: 'an event that another program sent', job: jobs.settled, forgery: anotherProgram },
  ];
}

/** Transactions of a version that no reader knows. */
function unknownVersions({ jobs }: ForgedScene): Sight[] {
  const strange = base58.encode(Buffer.alloc(64, 7));
  const ofVersion = (job: 'settled' | 'refunded', event: string): Sight => ({
    name: `a transaction of an unknown version: ${event}`,
    job: jobs[job],
    forgery: ofUnknownVersion([event]),
    saysLess: true,
  });
  const mention: Forgery = {
    listing: ([newest, ...older], address) =>
      newest && address === jobs.settled.toBase58()
        ? [{ ...newest, signature: strange } as ListedJson, newest, ...older]
        : newest
          ? [newest, ...older]
          : [],
    refusal: (signature) =>
      signature === strange
        ? { code: -32_015, message: 'Transaction version (7) is not supported' }
        : undefined,
  };
  return [
    { name: 'a mention that cannot be read', job: jobs.settled, forgery: mention },
    ofVersion('settled', 'JobSettled'),
    ofVersion('refunded', 'JobRefunded'),
  ];
}
