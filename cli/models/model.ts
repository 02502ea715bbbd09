import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { type ModelCard, parseModelCard } from '../../common/contracts/modelCard.ts';
import { fetchModel, modelText } from '../../programs/client/accounts.ts';
import type { Model } from '../../programs/client/generated/types.ts';
import { bytesToHex } from '../../programs/client/platform/bytes.ts';
import { canonicalJson, modelCardHash } from '../../programs/client/proof.ts';
import { asCommandError } from '../terminal/asCommandError.ts';
import {
  type LedgerOptions,
  parseAddress,
  parseNodeUrl,
  withLedgerNode,
} from '../terminal/ledgerNode.ts';
import { CommandError } from '../terminal/output.ts';
import { digestFiles } from './digests.ts';

interface Options extends Partial<LedgerOptions> {
  readonly of?: string;
  readonly model?: string;
}

/** `svc model`: what a model's workers promise to run. */
export function createModelCommand(): Command {
  const card = new Command('card')
    .description("check a model's card, and print its canonical form and how to pin it")
    .argument('<file>', 'the card, as JSON')
    .option(
      '--of <path>',
      "the model's folder or its one file of weights: compares the digests of the card with it, " +
        'and fills in those that the card lacks',
    )
    .option('--model <id>', 'the model on the ledger of --rpc that is to pin it')
    .option('--rpc <url>', "the ledger's node", parseNodeUrl)
    .option('--program <id>', 'another deployment of the program', parseAddress)
    .action(run);
  return new Command('model').description('what a model promises').addCommand(card);
}

async function run(file: string, options: Options): Promise<void> {
  const card = await readCard(file, options.of);
  const hash = bytesToHex(modelCardHash(card));
  const fields = await readFields(options);
  const program = options.program ? ' --program "$PROGRAM"' : '';
  // Alone on standard output, so that it can go into a file.
  console.log(canonicalJson(card));
  console.error(`card_hash ${hash}
The authority pins it. Every field is set again, and without card_hash nothing stays pinned:

  npx --no svc send model_upsert --rpc "$RPC"${program} --signer authority.json \\
    ${fields.join(' ')} \\
    card_hash=${hash}`);
}

/** @throws CommandError naming what is wrong with the card, or which digest differs */
async function readCard(file: string, path: string | undefined): Promise<ModelCard> {
  const fail = ({ message }: Error) => `${file}: ${message}.`;
  const text = asCommandError(() => readFileSync(file, 'utf8'), fail);
  const known = path === undefined ? {} : await digestFiles(path);
  return asCommandError(() => {
    const given = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const card = parseModelCard(JSON.stringify({ ...known, ...given }));
    for (const [field, digest] of Object.entries(known)) {
      const held = card[field as keyof typeof known];
      if (held !== digest)
        throw new RangeError(`${field} is ${held}, and of these files ${digest}`);
    }
    // What it can only be hashed as, too.
    modelCardHash(card);
    return card;
  }, fail);
}

/** What `model_upsert` takes besides the hash: of the model on the ledger, or its names alone. */
async function readFields({ model: id, rpc, program }: Options): Promise<string[]> {
  if (id === undefined && rpc === undefined) return fieldsOf(undefined);
  if (id === undefined || rpc === undefined) {
    throw new CommandError('--model and --rpc go together: the node knows the model.');
  }
  const ledger = { rpc, ...(program && { program }) };
  const model = await withLedgerNode(ledger, ({ connection, addresses }) =>
    fetchModel(connection, addresses.model(id), {
      commitment: 'confirmed',
      programId: addresses.programId,
    }),
  );
  if (!model) throw new CommandError(`The ledger has no model ${id}.`);
  return fieldsOf(model);
}

function fieldsOf(model: Model | undefined): string[] {
  const text = model && modelText(model);
  const fields = {
    id: text?.id,
    tier: model?.tier,
    label: text?.label,
    originator: text?.originator,
    context_window_tokens: model?.contextWindowTokens,
    credits_per_request: model?.creditsPerRequest,
    credits_per_1k_tokens: model?.creditsPer1kTokens,
    long_completion_threshold_tokens: model?.longCompletionThresholdTokens,
  };
  return Object.entries(fields).map(([name, value]) => `${name}=${quoted(String(value ?? '…'))}`);
}

/** As a shell takes it: `Mistral AI` has a space. */
function quoted(text: string): string {
  return /^[\w.:/…-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
