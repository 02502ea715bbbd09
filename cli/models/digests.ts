import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ModelCard } from '../../common/contracts/modelCard.ts';
import { canonicalJson } from '../../programs/client/proof.ts';
import { asCommandError } from '../terminal/asCommandError.ts';
import { CommandError } from '../terminal/output.ts';

type Digests = Pick<ModelCard, 'weights_digest' | 'tokenizer_digest' | 'chat_template_digest'>;

const WEIGHTS = /\.(safetensors|gguf)$/;

/**
 * The digests of a model's files. A GGUF file holds its tokenizer and template itself, so that these
 * are null there.
 *
 * @param path the model's folder, or its one file of weights
 * @throws CommandError where the folder has no weights, or a file cannot be read
 */
export function digestFiles(path: string): Promise<Digests> {
  const explain = ({ message }: Error) => `The model cannot be read: ${message}.`;
  return asCommandError(async () => {
    const isFolder = statSync(path).isDirectory();
    const files = isFolder
      ? readdirSync(path)
          .filter((file) => WEIGHTS.test(file))
          .map((file) => join(path, file))
      : [path];
    const tokenizer = join(path, 'tokenizer.json');
    const template = isFolder ? readTemplate(path) : undefined;
    return {
      weights_digest: await digestWeights(files),
      tokenizer_digest: isFolder && existsSync(tokenizer) ? await digestFile(tokenizer) : null,
      chat_template_digest: template === undefined ? null : digest(template),
    };
  }, explain);
}

/** Of one file its own; of several over the canonical JSON of theirs by name. */
async function digestWeights(files: readonly string[]): Promise<string> {
  const [first, ...others] = files;
  if (first === undefined) throw new CommandError('no *.safetensors or *.gguf is there');
  if (others.length === 0) return digestFile(first);
  const digests: Record<string, string> = {};
  for (const file of files) digests[basename(file)] = await digestFile(file);
  return digest(canonicalJson(digests));
}

/** Weights are larger than memory. */
async function digestFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return `sha256:${hash.digest('hex')}`;
}

/** The chat template's text: a file of its own, or a field of the tokenizer's settings. */
function readTemplate(folder: string): string | undefined {
  const own = join(folder, 'chat_template.jinja');
  if (existsSync(own)) return readFileSync(own, 'utf8');
  const settings = join(folder, 'tokenizer_config.json');
  if (!existsSync(settings)) return undefined;
  const { chat_template: template } = JSON.parse(readFileSync(settings, 'utf8')) as {
    chat_template?: unknown;
  };
  return typeof template === 'string' ? template : undefined;
}

function digest(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
