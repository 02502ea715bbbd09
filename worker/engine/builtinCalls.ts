import { createRandom } from '../../common/seededRandom.ts';
import type { ChatRequest } from '../protocol/contracts.ts';
import { SchemaRefusedError, schemaValue } from './schemaValue.ts';
import { makeCallId, mayCall } from './toolCalls.ts';
import { parameterRefused } from './upstreamErrors.ts';

type Tool = NonNullable<ChatRequest['tools']>[number];

/** What the built-in engine calls: the name comes at once, the arguments in tokens. */
interface BuiltinCall {
  id: string;
  name: string;
  arguments: string;
}

const SEEDS = 2 ** 31;
const WORDS = /[\w-]+/g;

/**
 * The calls that answer a conversation: of the tool that was chosen, or of those that the last message
 * names where it is the user's. Where a call is required and none is named, of a drawn one.
 * Equal requests and seeds give equal calls.
 *
 * @throws WorkerError `parameter_refused` for a tool whose schema has no value that can be found
 */
export async function composeCalls(
  chat: ChatRequest,
  limits: { msMax: number; signal: AbortSignal },
): Promise<BuiltinCall[]> {
  return Promise.all(
    toolsToCall(chat).map((tool, index) => composeCall(chat, { tool, index }, limits)),
  );
}

function toolsToCall(chat: ChatRequest): Tool[] {
  const { tools = [], tool_choice: choice, messages } = chat;
  if (!mayCall(chat)) return [];
  if (typeof choice === 'object') {
    return tools.filter((tool) => tool.function.name === choice.function.name);
  }
  const last = messages.at(-1);
  const asked = last?.role === 'user' ? last.content : '';
  const words: string[] = asked.match(WORDS) ?? [];
  const named = tools.filter((tool) => words.includes(tool.function.name));
  const drawn = tools[seededBy(chat, tools).below(tools.length)];
  const called = named.length === 0 && choice === 'required' && drawn ? [drawn] : named;
  return chat.parallel_tool_calls === false ? called.slice(0, 1) : called;
}

async function composeCall(
  chat: ChatRequest,
  { tool, index }: { tool: Tool; index: number },
  limits: { msMax: number; signal: AbortSignal },
): Promise<BuiltinCall> {
  const { name, parameters: schema } = tool.function;
  const random = seededBy(chat, [index, tool]);
  const request = { schema: schema ?? {}, seed: random.below(SEEDS) };
  try {
    const text = schema ? await schemaValue(request, limits) : '{}';
    return { id: makeCallId(random), name, arguments: text };
  } catch (error) {
    if (error instanceof SchemaRefusedError) throw parameterRefused('tools');
    throw error;
  }
}

const seededBy = ({ seed, messages }: ChatRequest, more: unknown) =>
  createRandom(JSON.stringify([seed, messages, more]));
