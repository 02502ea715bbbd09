import { Command } from 'commander';
import { rebuildMirror } from '../../indexer/mirror/rebuild.ts';
import type { LaggingAccounts } from '../../indexer/reconcile/lagging.ts';
import { ANSWER_MS_MAX } from '../../indexer/reconcile/readLedger.ts';
import {
  checkLedger,
  isBreach,
  isClean,
  type Reconciliation,
  reconcile,
} from '../../indexer/reconcile/reconcile.ts';
import { connectNode } from '../../indexer/source/node.ts';
import { createLedgerSource } from '../../indexer/source/source.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { connectLedger } from '../../programs/client/verify/connection/connectLedger.ts';
import { renderRows } from '../terminal/output.ts';
import { renderJson } from '../terminal/renderChecks.ts';
import { withDatabase } from './database.ts';
import { explainNode, type LedgerChoice, locateLedger, withLedgerOption } from './ledgerChoice.ts';

/** The mirror is behind the ledger, and no difference was found. */
const EXIT_BEHIND = 2;
const VAULTS_UNKNOWN = 'The vaults were not compared: tokens moved all the time.';
/** One line of progress every few seconds. */
const PROGRESS_EVENTS = 10_000;

/** `svc indexer`: both commands work while API and indexer use the mirror. */
export function createIndexerCommand(): Command {
  const indexer = new Command('indexer').description('the mirror of the ledger in the database');
  withLedgerOption(indexer.command('rebuild'))
    .description('build a new mirror from the ledger and switch to it')
    .action(rebuild);
  withLedgerOption(indexer.command('reconcile'))
    .description(
      'compare journal, tables, accounts and vaults; exit code 1 if anything differs, ' +
        '2 if only the mirror is behind the ledger',
    )
    .option('--json', 'print JSON')
    .action(compare);
  return indexer;
}

async function rebuild(choice: LedgerChoice): Promise<void> {
  const { rpcUrl, programId } = locateLedger(choice);
  let events = 0;
  await withDatabase(async (pool) => {
    const { differing } = await explainNode(
      rebuildMirror({
        pool,
        source: createLedgerSource({ node: connectNode({ url: rpcUrl }), programId }),
        addresses: createAddresses(programId),
        signal: new AbortController().signal,
        onFolded(folded) {
          const before = events;
          events += folded.length;
          if (Math.floor(before / PROGRESS_EVENTS) < Math.floor(events / PROGRESS_EVENTS)) {
            console.error(`${events} events …`);
          }
        },
      }),
    );
    const verdict =
      differing.length === 0
        ? 'It is equal to the old one.'
        : `The old one was wrong in: ${differing.join(', ')}.`;
    console.log(`The mirror was rebuilt from ${events} events. ${verdict}`);
  });
}

async function compare(options: LedgerChoice & { json?: true }): Promise<void> {
  const { rpcUrl, programId } = locateLedger(options);
  const node = connectNode({ url: rpcUrl, timeoutMs: ANSWER_MS_MAX });
  await withDatabase(async (database) => {
    const mirror = { database, addresses: createAddresses(programId) };
    await explainNode(checkLedger({ ...mirror, node }));
    const result = await explainNode(reconcile({ ...mirror, connection: connectLedger(node) }));
    const isEqual = isClean(result);
    if (!isEqual) process.exitCode = isBreach(result) ? 1 : EXIT_BEHIND;
    console.log(options.json ? renderJson({ isClean: isEqual, ...result }) : renderText(result));
  });
}

function renderText(result: Reconciliation): string {
  const behind = result.behind ? [renderBehind(result.behind)] : [];
  return [...behind, isBreach(result) ? renderBreach(result) : renderAgreement(result)].join('\n');
}

function renderAgreement({ slot, accounts, behind, conservation }: Reconciliation): string {
  const compared = behind ? 'all other accounts' : `${accounts} accounts`;
  return conservation
    ? `Journal, tables, ${compared} and the vaults agree at slot ${slot}.`
    : `Journal, tables and ${compared} agree at slot ${slot}. ${VAULTS_UNKNOWN}`;
}

function renderBreach({ slot, accounts, differences, conservation }: Reconciliation): string {
  const head = ['against', 'address', 'column', 'mirror', 'expected'];
  const rows = differences.map(({ against, address, column, mirror, expected }) => [
    ...[against, address, column],
    ...[mirror ?? '-', expected ?? '-'],
  ]);
  const vaults = conservation?.map(
    ({ vault, heldBaseUnits, dueBaseUnits }) =>
      `${vault} holds ${heldBaseUnits} base units and owes ${dueBaseUnits}.`,
  ) ?? [VAULTS_UNKNOWN];
  return [`At slot ${slot}, ${accounts} accounts:`, renderRows(head, rows), ...vaults].join('\n');
}

function renderBehind({ slots, accounts }: LaggingAccounts): string {
  return (
    `The mirror is behind the ledger by ${slots} slots: does the indexer run? ` +
    `Accounts that cannot be compared before it has caught up: ${accounts}.`
  );
}
