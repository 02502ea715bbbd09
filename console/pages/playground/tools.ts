import { isObject } from '../../../programs/client/verify/answer/fields.ts';
import type { CompletionRequest, Tool } from '../../data/samples.ts';

/** The tools of a request, as they were entered. */
export interface ToolSettings {
  /** The list, as JSON. */
  readonly tools: string;
  /** `tool_choice`, as JSON; empty leaves it to the service. */
  readonly toolChoice: string;
}

const TOOLS_MAX = 128;
const SCHEMA_KIB_MAX = 64;
const NAME = /^[\w-]{1,64}$/;
const FORM = '[{"type": "function", "function": {"name": "…"}}]';

/** What is wrong with tools that were entered. */
class ToolsError extends Error {
  override name = 'ToolsError';
}

/** What tools add to a request, or what is wrong with them. The choice is sent where it is one of them. */
export function readTools({ tools: entered, toolChoice }: ToolSettings): {
  readonly options?: Pick<CompletionRequest, 'tool_choice' | 'tools'>;
  readonly wrong?: string;
} {
  try {
    const tools = toolsIn(entered);
    if (tools.length === 0) return {};
    const isChoice = choicesOf(tools).some(([choice]) => choice === toolChoice && choice !== '');
    return { options: { ...(isChoice && { tool_choice: JSON.parse(toolChoice) }), tools } };
  } catch (error) {
    if (!(error instanceof ToolsError)) throw error;
    return { wrong: error.message };
  }
}

/** What `tool_choice` may be with these tools: as JSON, and in words. */
export function choicesOf(tools: readonly Tool[]): [choice: string, words: string][] {
  const named = tools.map(({ function: { name } }): [string, string] => [
    JSON.stringify({ type: 'function', function: { name } }),
    `the tool ${name}`,
  ]);
  const words = ['none', 'auto', 'required'].map((word): [string, string] => [`"${word}"`, word]);
  return [['', 'not sent'], ...words, ...named];
}

/** @throws ToolsError whose message says which tool is wrong, and how it has to be */
function toolsIn(entered: string): readonly Tool[] {
  if (entered.trim() === '') return [];
  const list = parse(entered);
  if (!Array.isArray(list)) throw new ToolsError(`A list is needed: ${FORM}.`);
  if (list.length > TOOLS_MAX) throw new ToolsError(`At most ${TOOLS_MAX} tools.`);
  const names = new Set<string>();
  for (const [index, tool] of list.entries()) {
    const fault = faultOf(tool, names);
    if (fault) throw new ToolsError(`Tool ${index + 1}: ${fault}`);
  }
  const schemas = list.map((tool) => JSON.stringify(tool.function.parameters) ?? '').join('');
  if (new TextEncoder().encode(schemas).length > SCHEMA_KIB_MAX * 1_024) {
    throw new ToolsError(`All parameters have at most ${SCHEMA_KIB_MAX} KiB of JSON.`);
  }
  return list;
}

function parse(entered: string): unknown {
  try {
    return JSON.parse(entered);
  } catch (error) {
    throw new ToolsError(`This is no JSON. ${error instanceof Error ? error.message : ''}`);
  }
}

/** @param names of the tools before, to which its own is added */
function faultOf(tool: unknown, names: Set<string>): string | undefined {
  if (!isObject(tool) || tool.type !== 'function' || !isObject(tool.function)) {
    return 'it needs "type": "function", and an object "function".';
  }
  const { name, description, parameters, strict } = tool.function;
  if (typeof name !== 'string' || !NAME.test(name)) {
    return 'its name needs 1 to 64 letters, digits, _ or -.';
  }
  if (names.has(name)) return `another one is named ${name}, too.`;
  names.add(name);
  if (typeof (description ?? '') !== 'string') return 'its description has to be a text.';
  if (!isObject(parameters ?? {})) return 'its parameters have to be an object: a JSON Schema.';
  return typeof (strict ?? false) === 'boolean' ? undefined : 'strict has to be true or false.';
}
