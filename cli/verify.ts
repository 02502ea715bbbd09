import type { PublicKey } from '@solana/web3.js';
import { Command, InvalidArgumentError, Option } from 'commander';
import { parseJobId } from '../programs/client/jobId.ts';
import { hexToBytes } from '../programs/client/platform/bytes.ts';
import { readAnswer, type SavedAnswer } from '../programs/client/verify/answer/readAnswer.ts';
import { BYTES_MAX } from '../programs/client/verify/answer/text.ts';
import { conclusionOf, NOT_PROVEN } from '../programs/client/verify/check.ts';
import { compareNodes } from '../programs/client/verify/compareNodes.ts';
import { gatherModel } from '../programs/client/verify/job/cardRules.ts';
import type { Evidence } from '../programs/client/verify/job/evidence.ts';
import { JobNotLocatedError } from '../programs/client/verify/job/findLock.ts';
import { gatherEvidence, HISTORY_MAX } from '../programs/client/verify/job/gatherEvidence.ts';
import { locateJob } from '../programs/client/verify/job/locateJob.ts';
import { verifyJob } from '../programs/client/verify/job/verifyJob.ts';
import { type GivenOptions, readClient, readSaved } from './givenFiles.ts';
import { asCommandError, messageOf } from './terminal/asCommandError.ts';
import {
  type LedgerOptions,
  parseAddress,
  parseNodeUrl,
  withLedgerNode,
} from './terminal/ledgerNode.ts';
import { CommandError } from './terminal/output.ts';
import { renderChecks, renderJson, renderTransactions } from './terminal/renderChecks.ts';

/** 100 answers of a node, back to the time of a closed job's id. */
const LISTED_MAX = 100_000;

interface Options extends Pick<Partial<LedgerOptions>, 'program'>, GivenOptions {
  readonly rpc?: readonly URL[];
  readonly wallet?: PublicKey;
  readonly response?: string;
  readonly historyMax: number;
  readonly all?: true;
  readonly json?: true;
}

/** `svc verify`: checks one job through a ledger's node alone. */
export function createVerifyCommand(): Command {
  return new Command('verify')
    .description('check one job on the ledger, without the service')
    .argument(
      '[job]',
      'a job id, a job address, or the signature of one of its transactions; default: of --response',
    )
    .option(
      '--rpc <url>',
      "a ledger's node, whose answers are checked; twice: two nodes are compared; default: that of the stack that runs here",
      (url: string, earlier: readonly URL[] = []) => [...earlier, parseNodeUrl(url)],
    )
    .option('--program <id>', 'another deployment of the program', parseAddress)
    .option(
      '--wallet <address>',
      "the job's wallet: needed for the signature of a batch, and the id of a job closed long ago",
      parseAddress,
    )
    .addOption(
      new Option(
        '--response <file>',
        'a saved answer: JSON or a stream, with headers or without; - reads it from stdin',
      ).conflicts('output'),
    )
    .option('--request <file>', 'the JSON body that was sent, to check the question')
    .option('--salt <hex>', "the request's salt; default: of --response", parseHash)
    .option(
      '--answer-details <hex>',
      'what the proof binds beside the question; default: of --response',
      parseHash,
    )
    .option('--output <file>', 'the received text, to compare its hash; - reads it from stdin')
    .option('--receipt <receipt>', 'the delivery receipt of the text')
    .option('--card <file>', "the card of the job's model, to compare with what was pinned")
    .option(
      '--history-max <count>',
      "the maximum of earlier transactions to read, each of the worker's authority, the credit account, and the time of a closed job's id",
      parseCount,
      HISTORY_MAX,
    )
    .option('--max-bytes <count>', 'the largest answer or request to read', parseCount, BYTES_MAX)
    .option('--all', 'show the checks that do not apply to this job, too')
    .option('--json', 'print JSON, with all checks')
    .action(run);
}

async function run(named: string | undefined, options: Options): Promise<void> {
  const answer = await readSaved(options.response, (bytes) => readAnswer(bytes, options.maxBytes));
  const asked = jobOf(named, answer);
  const client = await readClient(options, answer);
  const given = { ...options, ...walletOf(options, answer) };
  const [first, ...others] = options.rpc ?? [undefined];
  const evidence = await gather(asked, given, first);
  const { job, events, checks } = verifyJob(evidence, client);
  const differences: string[] = [];
  for (const rpc of others) {
    const found = verifyJob(await gather(asked, given, rpc), client);
    differences.push(...compareNodes(checks, found.checks));
  }
  if (events.length === 0 && evidence.account.kind === 'none') {
    throw new CommandError(`The ledger's node knows no job at ${job.address}.`);
  }
  if (answer && job.id !== null) jobOf(job.id, answer);
  const { result, title, sentence } = conclusionOf(checks);
  const isFree = ['failed', 'refunded'].includes(job.status) && job.credits_charged === 0n;
  const conclusion = `${title.replace(/\.?$/, '.')}${isFree ? ' Nothing was charged.' : ''}`;
  if (result !== 'holds' || differences.length > 0) process.exitCode = 1;
  const { slot, now } = evidence;
  if (options.json) {
    const program = evidence.addresses.programId;
    const as_of = { slot, unix_time: now };
    console.log(
      renderJson({
        result,
        conclusion,
        program,
        as_of,
        job,
        checks,
        not_proven: NOT_PROVEN,
        ...(others.length > 0 && { differences }),
      }),
    );
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
  const shown = options.all ? checks : checks.filter(({ verdict }) => verdict !== 'not_applicable');
  const hidden = checks.length - shown.length;
  const note = `Checks that do not apply to this job: ${hidden} (--all shows them).`;
  const notProven = `Not proven: ${NOT_PROVEN.join(', ')}.`;
  const compared =
    differences.length === 0 ? ['The nodes show the same.'] : ['The nodes differ.', ...differences];
  const below = [
    ...(hidden > 0 ? [note] : []),
    notProven,
    `${conclusion} ${sentence}`,
    ...(others.length > 0 ? compared : []),
  ];
  console.log(renderChecks(shown, transactions, below));
}

/** @throws CommandError where no job is named, or two are */
function jobOf(named: string | undefined, answer: SavedAnswer | undefined): string {
  const job = named ?? answer?.jobId;
  if (job === undefined) throw new CommandError('Name a job, or a saved answer: --response.');
  if (answer && parseJobId(job) && job !== answer.jobId) {
    throw new CommandError(`The saved answer is of ${answer.jobId}, and you named ${job}.`);
  }
  return job;
}

/** The answer names its wallet, and a wallet that is named goes before it. */
function walletOf({ wallet }: Options, answer: SavedAnswer | undefined): Pick<Options, 'wallet'> {
  if (wallet) return { wallet };
  return answer?.wallet === undefined ? {} : { wallet: parseAddress(answer.wallet) };
}

/** Reads from the node that is named, or else from that of the stack that runs here. */
async function gather(named: string, options: Options, rpc: URL | undefined): Promise<Evidence> {
  const { program, wallet, historyMax } = options;
  const target = rpc ? { rpc, program } : await readStack();
  const programId = program ?? target.program;
  const ledger = { rpc: target.rpc, ...(programId && { program: programId }) };
  return withLedgerNode(ledger, async ({ connection, addresses }) => {
    const node = { connection, addresses };
    const search = { listedMax: LISTED_MAX, readMax: historyMax };
    const job = await asCommandError(
      () => locateJob({ ...node, named, wallet, search }),
      messageOf(JobNotLocatedError),
    );
    const evidence = await gatherEvidence({ ...node, job, historyMax });
    if (options.card === undefined && options.request === undefined) return evidence;
    // A question is compared with the context window alone.
    return gatherModel({
      connection,
      evidence,
      historyMax: options.card === undefined ? 0 : historyMax,
    });
  });
}

/** @throws CommandError where no stack runs in the current folder */
async function readStack(): Promise<Required<LedgerOptions>> {
  const { readStackFile, STACK_FOLDER } = await import('../stack/stackFile.ts');
  const stack = readStackFile(STACK_FOLDER);
  if (!stack) {
    throw new CommandError("Say which ledger's node: --rpc. No stack of npm start runs here.");
  }
  const rpc = parseNodeUrl(stack.rpcUrl);
  console.error(`Asking the ledger of the stack that runs here: ${rpc.host}.`);
  return { rpc, program: parseAddress(stack.programId) };
}

function parseHash(text: string): Uint8Array {
  if (/^[0-9a-f]{64}$/.test(text)) return hexToBytes(text);
  throw new InvalidArgumentError('It must be 64 hex digits, in lower case.');
}

function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('It must be a whole number above 0.');
}
