import { base58 } from '@scure/base';
import type { Keypair, PublicKey } from '@solana/web3.js';
import { PROGRAM_ID, receiptMessage, signHashed } from '../../../programs/client/index.ts';
import { utf8 } from '../../../programs/client/platform/bytes.ts';
import { sha256 } from '../../../programs/client/platform/crypto.node.ts';
import { OUTPUT } from '../../../testing/ledger/jobScene.ts';
import type { ForgedScene } from '../../auditors/forgedScene.ts';
import { FORGERIES } from '../../auditors/forgeries/all.ts';
import {
  decodeEvent,
  eventInstructions,
  forgeArguments,
  forgeEvent,
  inTransactionOf,
  ofUnknownVersion,
  set,
} from '../../auditors/forgeries/forge.ts';
import type { Forgery, ListedJson } from '../../auditors/forgeries/node.ts';
import type { Sight } from './sight.ts';

/** What a node may keep to itself. */
export function omissions(scene: ForgedScene): Sight[] {
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

/** Evidence whose key the node does not show to be the worker's, and a receipt that proves nothing. */
export function verdicts({ jobs, service }: ForgedScene): Sight[] {
  const authority = service.workerAuthority.publicKey.toBase58();
  const byStranger = FORGERIES.find(({ what }) => what === 'the evidence, which a stranger signed');
  const listed = (change: (rows: ListedJson[]) => ListedJson[]): Forgery => ({
    ...byStranger?.forgery(jobs),
    listing: (rows, address) => (address === authority ? change(rows) : rows),
  });
  const gap = { signature: base58.encode(Buffer.alloc(64, 9)), slot: 0, err: null };
  const name = 'the evidence, which a stranger signed';
  return [
    { name: `${name}, and no record of the worker`, job: jobs.upheld, forgery: listed(() => []) },
    {
      ...{ name: `${name}, and a gap in the worker’s records`, job: jobs.upheld },
      forgery: listed((rows) => [gap, ...rows]),
    },
    {
      ...{ name: 'a receipt for the settled text as evidence', job: jobs.repaid },
      forgery: rightReceipt(jobs.repaid, service.hotSigner),
    },
  ];
}

/** The key that settled signed what it delivered. */
const rightReceipt = (job: PublicKey, signer: Keypair): Forgery =>
  inTransactionOf('DisputeResolved', (transaction) => {
    const [event] = eventInstructions(transaction, 'DisputeResolved');
    const fields = event && (decodeEvent(event)?.data as Record<string, unknown>);
    if (!fields || !job.equals(fields.job as PublicKey)) return;
    const outputHash = sha256(utf8(OUTPUT));
    const message = receiptMessage({ programId: PROGRAM_ID, job, outputHash });
    const signature = [...signHashed(message, signer)];
    forgeArguments(transaction, 0, () => ({ output_hash: [...outputHash], signature }));
    const hash = set('evidence_hash', [...sha256(message)]);
    forgeEvent('DisputeResolved', hash, job).transaction?.(transaction);
  });

/** Transactions of a version that no reader knows. */
export function unknownVersions({ jobs }: ForgedScene): Sight[] {
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
