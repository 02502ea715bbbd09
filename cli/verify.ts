import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { PublicKey } from '@solana/web3.js';
import { Command, InvalidArgumentError } from 'commander';
import { conclude } from '../programs/client/verify/check.ts';
import { gatherEvidence, HISTORY_MAX } from '../programs/client/verify/job/gatherEvidence.ts';
import { JobNotLocatedError, locateJob } from '../programs/client/verify/job/locateJob.ts';
import { verifyJob } from '../programs/client/verify/job/verifyJob.ts';
import {
  addLedgerOptions,
  type LedgerOptions,
  parseAddress,
  withLedgerNode,
} from './terminal/ledgerNode.ts';
import { CommandError } from './terminal/output.ts';
import { renderChecks, renderJson, renderTransactions } from './terminal/renderChecks.ts';

interface Options extends LedgerOptions {
  readonly wallet?: PublicKey;
  readonly output?: string;
  readonly receipt?: string;
  readonly historyMax: number;
  readonly json?: true;
}

/** `svc verify`: checks one job through a ledger's node alone. */
export function createVerifyCommand(): Command {
  return addLedgerOptions(new Command('verify'))
    .description('check one job on the ledger, without the service')
    .argument('<job>', 'a job id, a job address, or the signature of one of its transactions')
    .option(
      '--wallet <address>',
      "the job's wallet: needed for a job id once the job is closed",
      parseAddress,
    )
    .option('--output <file>', 'the received text, to compare its hash; - reads it from stdin')
    .option('--receipt <receipt>', 'the delivery receipt of the text')
    .option(
      '--history-max <count>',
      "the maximum of earlier transactions to read, of the worker's authority and the credit account",
      parseCount,
      HISTORY_MAX,
    )
    .option('--json', 'print JSON')
    .action(run);
}

async function run(named: string, options: Options): Promise<void> {
  const output = options.output === undefined ? undefined : await readOutput(options.output);
  const { historyMax } = options;
  const evidence = await withLedgerNode(options, async (ledger) => {
    const job = await locateJob({ ...ledger, named, wallet: options.wallet }).catch(explain);
    return gatherEvidence({ ...ledger, job, historyMax });
  });
  const { job, events, checks } = verifyJob(evidence, {
    output,
    // It may come from a file of headers, whose lines end in CR LF.
    receipt: options.receipt?.trim(),
  });
  if (events.length === 0 && evidence.account.kind === 'none') {
    throw new CommandError(`The ledger's node knows no job at ${job.address}.`);
  }
  const result = conclude(checks);
  if (result !== 'holds') process.exitCode = 1;
  const { slot, now } = evidence;
  if (options.json) {
    const program = evidence.addresses.programId;
    const as_of = { slot, unix_time: now };
    console.log(renderJson({ result, program, as_of, job, checks }));
    return;
  }
  const transactions = [...new Set(events.map(({ transaction }) => transaction))].map((one) => ({
    ...one,
    events: events.filter(({ transaction }) => transaction === one).map(({ name }) => name),
  }));
  console.log(
    `${job.id ?? 'A job'} at ${job.address}: ${job.status}, ` +
      `${job.credits_charged} of ${job.credits_locked} locked credits charged, ` +
      `as of slot ${slot}.`,
  );
  console.log(renderTransactions(transactions));
  console.log(renderChecks(checks, transactions));
}

async function readOutput(file: string): Promise<Uint8Array> {
  if (file === '-') return buffer(process.stdin);
  return readFile(file).catch((cause: Error) => {
    throw new CommandError(`The text cannot be read: ${cause.message}`, { cause });
  });
}

function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

function explain(error: Error): never {
  if (error instanceof JobNotLocatedError) throw new CommandError(error.message, { cause: error });
  throw error;
}
