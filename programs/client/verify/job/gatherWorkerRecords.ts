import type { Connection, PublicKey } from '@solana/web3.js';
import { fetchWorker } from '../../accounts.ts';
import type { Addresses } from '../../addresses.ts';
import { COMMITMENT } from '../ledgerState.ts';
import { type PlacedEvent, placeEvents, type WorkerEvidence } from './evidence.ts';
import type { LedgerReader } from './ledgerReader.ts';
import { readHistory } from './readHistory.ts';

type WorkerRecord = PlacedEvent<'WorkerRegistered' | 'WorkerUpdated'>;

/**
 * How the ledger recorded the keys of the job's last worker: everything from the last record before
 * the first proof or settlement to the last. Read from the transactions of the worker's authority,
 * who alone can change them; those of the worker itself would be all jobs that it ever did. Anybody
 * can mention the authority: what it did not sign, and what came after the job, does not count.
 * An authority that is a program's address, such as a multisig's vault, signs by its program alone.
 *
 * @param options.historyMax how many transactions that the authority signed are looked at
 * @returns nothing when the job was never proven
 */
export async function gatherWorkerRecords(options: {
  connection: Connection;
  addresses: Addresses;
  reader: LedgerReader;
  job: PublicKey;
  events: readonly PlacedEvent[];
  historyMax: number;
}): Promise<WorkerEvidence> {
  const { connection, addresses, reader, job, events, historyMax } = options;
  const proofs = events.filter(
    (event): event is PlacedEvent<'JobProven' | 'JobSettled'> =>
      (event.name === 'JobProven' || event.name === 'JobSettled') && event.data.job.equals(job),
  );
  const [proof] = proofs;
  const nothing = { records: [], hasGaps: false, account: undefined };
  if (!proof) return nothing;
  const slotMax = proofs.at(-1)?.transaction.slot ?? proof.transaction.slot;
  const { programId } = addresses;
  const worker = proof.data.worker;
  const account = await fetchWorker(connection, worker, { commitment: COMMITMENT, programId });
  if (!account) return nothing;
  const records: WorkerRecord[] = [];
  let hasGaps = false;
  let signed = 0;
  for await (const found of readHistory(reader, account.authority, { slotMax })) {
    if ('unread' in found) {
      hasGaps = true;
      continue;
    }
    const { transaction } = found;
    const made = recordsIn(placeEvents(transaction), worker);
    const isSigned = transaction.signers.some((signer) => signer.equals(account.authority));
    if (!isSigned && made.length === 0) continue;
    signed += 1;
    records.unshift(...made);
    const isReached = records.some(({ transaction }) => transaction.slot < proof.transaction.slot);
    if (isReached || signed === historyMax) break;
  }
  return { records, hasGaps, account };
}

function recordsIn(events: readonly PlacedEvent[], worker: PublicKey): WorkerRecord[] {
  return events.filter(
    (event): event is WorkerRecord =>
      (event.name === 'WorkerRegistered' || event.name === 'WorkerUpdated') &&
      event.data.worker.equals(worker),
  );
}
