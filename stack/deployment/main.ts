import type { PublicKey } from '@solana/web3.js';
import { Command, InvalidArgumentError } from 'commander';
import {
  addLedgerOptions,
  type LedgerOptions,
  parseAddress,
  withLedgerNode,
} from '../../cli/terminal/ledgerNode.ts';
import { CommandError } from '../../cli/terminal/output.ts';
import { SetupError } from '../../worker/setup/setupError.ts';
import { StackError } from '../config.ts';
import { ActionRequiredError, initializeDeployment } from './initialize.ts';

// `npm run operator:init`: docs/deploying.md walks through it.

/** Something is left for the operator to do. */
const EXIT_CODE_TO_DO = 2;
const COLUMN = 10;
/** The default of WORKER_PORT. */
const TRIAL_ENDPOINT = 'http://127.0.0.1:8090';

interface Options extends LedgerOptions {
  readonly dir: string;
  readonly creditMint?: PublicKey;
  readonly stakeMint?: PublicKey;
  /** `true` for the default endpoint. */
  readonly trial?: true | URL;
}

const command = new Command('npm run operator:init --')
  .description(
    'Makes the keys of a deployment, says what to fund and deploy, and sets the program up. Run ' +
      'it again after each step of yours. Exit code 2: something is left for you to do.',
  )
  .requiredOption('--dir <folder>', 'where the keys are; none is ever overwritten')
  .option('--credit-mint <address>', 'the token that buys credits, for good', parseAddress)
  .option('--stake-mint <address>', 'the token of stakes, for good', parseAddress)
  .option(
    '--trial [endpoint]',
    `makes both mints, a wallet with credits, and a worker at ${TRIAL_ENDPOINT}`,
    parseEndpoint,
  );
addLedgerOptions(command, "the ledger's node").action(run);
try {
  await command.parseAsync();
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  console.error(`\n${error.message}`);
  process.exitCode = error instanceof ActionRequiredError ? EXIT_CODE_TO_DO : 1;
}

async function run(options: Options): Promise<void> {
  const { rpc, dir, program, creditMint, stakeMint, trial } = options;
  if ((creditMint === undefined) !== (stakeMint === undefined)) {
    throw new CommandError('--credit-mint and --stake-mint go together.');
  }
  const deployment = {
    rpcUrl: rpc.href,
    dir,
    ...(trial && { trialEndpoint: trial === true ? TRIAL_ENDPOINT : trial.origin }),
    ...(program && { programId: program }),
    ...(creditMint && stakeMint && { mints: { credit: creditMint, stake: stakeMint } }),
  };
  const report = (what: string, text: string): void => console.log(`${what.padEnd(COLUMN)}${text}`);
  await withLedgerNode(options, (node) =>
    initializeDeployment(node, deployment, report).catch((error: unknown) => {
      const isExplained = error instanceof StackError || error instanceof SetupError;
      throw isExplained ? new CommandError(error.message, { cause: error }) : error;
    }),
  );
}

function parseEndpoint(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new InvalidArgumentError('It must be an http or https address.');
}
