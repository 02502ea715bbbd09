import type { Reply, UpstreamServer } from '../worker/upstreamServer.ts';

/** What the scripts of clients read of a request. */
interface Asked {
  messages: { role: string; content?: unknown }[];
  response_format?: object;
  tools?: { function: { name: string; parameters?: { properties?: Record<string, unknown> } } }[];
  tool_choice?: string | { function: { name: string } };
  parallel_tool_calls?: boolean;
}

/** A call as servers send it, in pieces. */
export interface ScriptedCall {
  name: string;
  arguments: Record<string, unknown>;
}

/** Sends calls as OpenAI does: id and name first, then the arguments in two pieces. */
export function sendCalls(reply: Reply, calls: readonly ScriptedCall[], turn: number): void {
  for (const [index, { name, arguments: values }] of calls.entries()) {
    const json = JSON.stringify(values);
    const half = json.length >> 1;
    const id = `call_${turn}_${index}`;
    reply.calls({ index, id, type: 'function', function: { name, arguments: '' } });
    reply.calls({ index, function: { arguments: json.slice(0, half) } });
    reply.calls({ index, function: { arguments: json.slice(half) } });
  }
}

/** Calls the drawn tool of a worker's trial, so that its worker gets jobs with tools. */
export function passToolTrials(upstream: UpstreamServer): void {
  upstream.answerToolTrialWith((reply, body) => {
    const [tool] = (body as unknown as Asked).tools ?? [];
    const [argument = ''] = Object.keys(tool?.function.parameters?.properties ?? {});
    sendCalls(reply, [{ name: tool?.function.name ?? '', arguments: { [argument]: 1 } }], 0);
    reply.complete('tool_calls');
  });
}

const BREAK_OFF = 'Break off.';

/**
 * A model for the scripts of clients. It thinks, and calls a tool where the question is how warm a
 * city is. It gives JSON where that is asked for, and text after the results of calls. Where it is
 * asked to break off, it does so within its text.
 */
export function answerAsExpected(upstream: UpstreamServer): void {
  passToolTrials(upstream);
  upstream.answerWith((reply, body) => {
    const asked = body as unknown as Asked;
    reply.raw(JSON.stringify({ choices: [{ index: 0, delta: { reasoning_content: 'Hm. ' } }] }));
    if (JSON.stringify(asked.messages).includes(BREAK_OFF)) {
      reply.text('Half ');
      return reply.break();
    }
    const calls = callsOf(asked);
    sendCalls(reply, calls, asked.messages.length);
    if (calls.length === 0) for (const piece of piecesOf(asked)) reply.text(piece);
    reply.finish(calls.length > 0 ? 'tool_calls' : 'stop');
    const details = { completion_tokens_details: { reasoning_tokens: 4 } };
    const usage = { prompt_tokens: 5, completion_tokens: 7, ...details };
    reply.raw(JSON.stringify({ choices: [], usage }));
    reply.done();
    reply.end();
  });
}

function piecesOf({ messages, response_format }: Asked): string[] {
  const results = resultsOf(messages);
  if (results.length > 0) return ['It is ', `${results.join(' and ')}.`];
  const isCity = JSON.stringify(messages).includes('Which city?');
  return response_format || isCity ? ['{"city": ', '"Basel"}'] : ['Good ', 'morning.'];
}

/** The results that end the conversation, also where a client sends them as a user's text. */
function resultsOf(messages: Asked['messages']): string[] {
  const others = messages.findLastIndex(({ role }) => role !== 'tool');
  const results = messages.slice(others + 1).map(({ content }) => textOf(content));
  const [, observed] = /^Observation:\s*(.*)/s.exec(textOf(messages.at(-1)?.content)) ?? [];
  return (observed ? [observed] : results).filter((text) => text.includes('degrees'));
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return `${content ?? ''}`;
  return content.map(({ text }: { text?: string }) => text ?? '').join('');
}

function callsOf({ messages, tools = [], tool_choice: choice, parallel_tool_calls }: Asked) {
  const names = tools.map((tool) => tool.function.name);
  const final = names.find((name) => name.startsWith('final_'));
  const others = names.filter((name) => name !== final);
  const asked = JSON.stringify(messages);
  const isForced = typeof choice === 'object';
  const hasResults = resultsOf(messages).length > 0;
  const isFree = !isForced && choice !== 'required';
  const isOver = !asked.includes('How warm') || (hasResults && !final);
  if (choice === 'none' || (isFree && isOver)) return [];
  const own = hasResults ? (final ?? others[0]) : (others[0] ?? final);
  const name = isForced ? choice.function.name : own;
  const tool = tools.find((each) => each.function.name === name);
  const isTwice = asked.includes('and Bern') && parallel_tool_calls !== false && name !== final;
  return (isTwice ? ['Basel', 'Bern'] : ['Basel']).map((city): ScriptedCall => {
    const values: Record<string, unknown> = { city, answer: `21 degrees in ${city}` };
    const known = Object.keys(tool?.function.parameters?.properties ?? {});
    const given = known.filter((property) => property in values);
    return {
      name: name ?? '',
      arguments: Object.fromEntries(given.map((property) => [property, values[property]])),
    };
  });
}
