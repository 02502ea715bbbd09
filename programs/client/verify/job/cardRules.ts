import { fetchConfig, fetchModel, type ReadOptions } from '../../accounts.ts';
import type { LedgerConnection } from '../../ledgerConnection.ts';
import { parseJson } from '../../parseJson.ts';
import { bytesToHex } from '../../platform/bytes.ts';
import { type Json, modelCardHash } from '../../proof.ts';
import { shown } from '../answer/fields.ts';
import { type Finding, fails, holds, notApplicable, notCheckable, type Place } from '../check.ts';
import { COMMITMENT } from '../ledgerState.ts';
import {
  type Evidence,
  isBefore,
  type LedgerTransaction,
  type ModelEvidence,
  placeEvents,
} from './evidence.ts';
import { HISTORY_MAX } from './gatherEvidence.ts';
import { createLedgerReader } from './ledgerReader.ts';
import { jobEvents } from './record.ts';
import { type Rule, rule } from './rule.ts';

const NAME = 'model.card';
const NO_CARD = '0'.repeat(64);

/** The card is the one that the model pinned when the job was locked. It is a promise, and no proof. */
export const card: Rule = (record) =>
  record.card === undefined
    ? { name: NAME, ...notApplicable('No card was given.'), evidence: [] }
    : pinned(record);

const pinned = rule(NAME, ['JobLocked'], ({ JobLocked }, { card: text = '', model }) => {
  const given = readHash(text);
  if (typeof given !== 'string') return given;
  const hashes = model ? hashesInForce(model, JobLocked.transaction) : [];
  if (hashes.length === 0) {
    return notCheckable('The node does not show what the model pinned when the job was locked.');
  }
  if (hashes.every((hash) => hash === NO_CARD)) {
    return notCheckable('The model pinned no card when the job was locked: nothing was promised.');
  }
  return hashes.includes(given)
    ? holds(`${JobLocked.data.modelId} promised sha256:${given}; what ran is not shown.`)
    : fails(
        `The card's hash is sha256:${given}, and the pinned one sha256:${hashes.join(' or ')}.`,
      );
});

function readHash(text: string): string | Finding {
  try {
    return bytesToHex(modelCardHash(parseJson(text.replace(/^\ufeff/, '')) as Json));
  } catch (error) {
    // An error of JSON quotes the file.
    return fails(`The card has no canonical form: ${shown((error as Error).message)}.`);
  }
}

/**
 * The hashes that the model may have pinned at a transaction. Its account's sequence says how many
 * changes there were, so that none is missing between now and the last one before. Not every node gives
 * the order within a slot, so each change in that slot may count.
 *
 * @returns nothing where a change is missing
 */
function hashesInForce(
  { records, account }: ModelEvidence,
  at: Pick<LedgerTransaction, keyof Place | 'index'>,
): string[] {
  const bySequence = new Map(records.map((record) => [record.data.modelSequence, record]));
  const hashes: string[] = [];
  for (let { sequence } = account; sequence > 0n; sequence -= 1n) {
    const record = bySequence.get(sequence);
    // Never changed: the account itself says what it began with.
    if (record === undefined) return account.sequence === 1n ? [bytesToHex(account.cardHash)] : [];
    if (record.name === 'ModelRetired' || isBefore(at, record.transaction)) continue;
    hashes.push(bytesToHex(record.data.cardHash));
    if (isBefore(record.transaction, at)) break;
  }
  return hashes;
}

/**
 * What a node shows of the model of a job: its account, and its changes from now back to the last one
 * before the lock. They are read from the transactions of the program's authority, which alone can
 * make them: those of the model itself would be all its jobs.
 *
 * @param options.evidence of the job, as `gatherEvidence` returns it
 * @param options.historyMax how many transactions that the authority signed are looked at; 0 for the
 *   account alone
 * @returns the same evidence, with the model where the node shows it
 */
export async function gatherModel(options: {
  connection: LedgerConnection;
  evidence: Evidence;
  historyMax?: number;
}): Promise<Evidence> {
  const { connection, evidence, historyMax = HISTORY_MAX } = options;
  const { addresses, transactions, job } = evidence;
  const lock = jobEvents(transactions, job).find((event) => event.name === 'JobLocked');
  const reading: ReadOptions = { commitment: COMMITMENT, programId: addresses.programId };
  const account = lock && (await fetchModel(connection, lock.data.model, reading));
  if (!lock || !account) return evidence;
  if (historyMax === 0) return { ...evidence, model: { account, records: [] } };
  const config = await fetchConfig(connection, addresses.config, reading);
  if (!config) return evidence;
  const { authority } = config;
  const records: ModelEvidence['records'][number][] = [];
  const model = { account, records };
  let signed = 0;
  const reader = createLedgerReader(connection, addresses.programId);
  if (hashesInForce(model, lock.transaction).length > 0) return { ...evidence, model };
  for await (const found of reader.history(authority)) {
    if ('unread' in found) continue;
    for (const event of placeEvents(found.transaction)) {
      const isChange = event.name === 'ModelUpserted' || event.name === 'ModelRetired';
      if (isChange && event.data.model.equals(lock.data.model)) records.push(event);
    }
    if (found.transaction.signers.some((signer) => signer.equals(authority))) signed += 1;
    if (hashesInForce(model, lock.transaction).length > 0 || signed === historyMax) break;
  }
  return { ...evidence, model };
}
