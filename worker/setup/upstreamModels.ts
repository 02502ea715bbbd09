import { z } from 'zod';
import { describeConnectionFault } from '../../common/net/connectionFault.ts';
import type { Engine } from '../engine/engine.ts';
import { generateToken } from '../engine/readiness.ts';
import { FIELD_TRIALS, TRIED_FIELDS } from '../engine/toolTrial.ts';
import { modelsUrl } from '../engine/upstream.ts';
import { SetupError } from './setupError.ts';

const LIST_TIMEOUT_MS = 10_000;

/** Of servers that answer chats and nothing else. */
const NO_LIST_STATUSES = [404, 405, 501];

const modelList = z.object({ data: z.array(z.object({ id: z.string() })) });

/** What to do about some statuses. */
const REMEDIES: Readonly<Record<number, string>> = {
  401: ' WORKER_UPSTREAM_KEY holds its key.',
  403: ' WORKER_UPSTREAM_KEY holds its key.',
  503: ' It may still load its model: try again soon.',
};

/**
 * The names that an upstream serves models under; undefined where it has no list.
 *
 * @throws SetupError when it does not answer, or not in the form of chat-completions servers
 */
export async function listUpstreamModels(
  url: string,
  key: string | undefined,
): Promise<string[] | undefined> {
  const at = modelsUrl(url);
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const signal = AbortSignal.timeout(LIST_TIMEOUT_MS);
  const response = await fetch(at, { headers, signal }).catch((cause) => {
    const fault = describeConnectionFault(cause);
    throw new SetupError(`No upstream answers at ${at}: ${fault}. Start it first.`, { cause });
  });
  const { status } = response;
  if (NO_LIST_STATUSES.includes(status)) return undefined;
  if (!response.ok) {
    throw new SetupError(`${at} answers with status ${status}.${REMEDIES[status] ?? ''}`);
  }
  const list = modelList.safeParse(await response.json().catch(() => undefined));
  if (!list.success) throw new SetupError(`${at} answers without a list of models.`);
  return list.data.data.map(({ id }) => id);
}

/** Words for how a model was trained or stored, not for which one it is. */
const VARIANTS =
  /^(meta|instruct|chat|it|hf|gguf|awq|gptq|fp8|fp16|bf16|int4|int8|latest|q\d\w*|[km])$/;

/**
 * What is left of a name that the catalog and all servers share: `Qwen/Qwen3-8B-AWQ`, `qwen3:8b` and
 * `qwen3-8b-q4_k_m.gguf` are the same model.
 */
function familyOf(name: string): string {
  const [, last = ''] = /([^/\\]+)$/.exec(name.toLowerCase()) ?? [];
  return last
    .split(/[^a-z0-9.]+|\.(?=gguf$)/)
    .filter((word) => word !== '' && !VARIANTS.test(word))
    .join('');
}

/**
 * Proposes an upstream's name for each model of the catalog.
 *
 * @param chosen names that the operator gave; they go before any proposal
 * @returns the name by catalog id
 * @throws SetupError when a chosen id or name does not exist
 */
export function proposeModels(
  catalog: readonly string[],
  upstream: readonly string[],
  chosen: ReadonlyMap<string, string>,
): Map<string, string> {
  for (const [id, name] of chosen) {
    if (!catalog.includes(id)) throw new SetupError(`The catalog has no model '${id}'.`);
    if (!upstream.includes(name)) {
      throw new SetupError(`The upstream has no model '${name}', but ${upstream.join(', ')}.`);
    }
  }
  const proposed = catalog.flatMap((id): [string, string][] => {
    const name = upstream.find((other) => familyOf(other) === familyOf(id));
    return name === undefined ? [] : [[id, name]];
  });
  return new Map([...proposed, ...chosen]);
}

/** The fields whose trials a model's server passes: others bring it no jobs. */
async function fieldsTaken(engine: Engine, id: string): Promise<string[]> {
  const { signal } = new AbortController();
  const taken: string[] = [];
  for (const field of TRIED_FIELDS) {
    if (await FIELD_TRIALS[field](engine, id, signal)) taken.push(field);
  }
  return taken;
}

/**
 * Asks for one token of each model, and tries optional fields with each that answers.
 *
 * @param report gets lines for each
 * @returns the ids of those that answered
 */
export async function tryModels(
  engine: Engine,
  ids: Iterable<string>,
  report: (line: string) => void,
): Promise<string[]> {
  const answered: string[] = [];
  for (const id of ids) {
    const begunMs = performance.now();
    try {
      await generateToken(engine, id);
      const seconds = ((performance.now() - begunMs) / 1_000).toFixed(1);
      report(`${id} answers after ${seconds} s`);
      answered.push(id);
      report(`${id} takes ${(await fieldsTaken(engine, id)).join(' and ') || 'no optional field'}`);
    } catch (error) {
      report(`${id} does not answer and is left out: ${(error as Error).message}`);
    }
  }
  return answered;
}
