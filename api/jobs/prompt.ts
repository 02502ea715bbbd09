import type { ChatCompletionRequest } from '../contracts/chatCompletion.ts';

/** What of a request its model reads. */
type Asked = Pick<ChatCompletionRequest, 'messages' | 'tools'>;
type Message = Asked['messages'][number];

/** All that its model reads, calls and tools as JSON: so long the reading takes. */
export function promptTexts({ messages, tools }: Asked): { content: string }[] {
  return [
    ...messages.map(({ content, tool_calls }) => ({
      content: tool_calls ? content + JSON.stringify(tool_calls) : content,
    })),
    ...(tools ? [{ content: JSON.stringify(tools) }] : []),
  ];
}

/**
 * What every chat template keeps of it. Some write schemas in a language of their own, and arguments
 * as the values that they hold: then neither has its JSON's tokens.
 */
export function leastPrompt({ messages, tools = [] }: Asked): { role: string; content: string }[] {
  const offered = tools.flatMap(({ function: { name, description } }) => [name, description ?? '']);
  return [
    ...offered.map((content) => ({ role: 'system', content })),
    ...messages.flatMap(({ role, content, tool_calls = [] }) => [
      { role, content },
      ...tool_calls.flatMap(leastOfCall).map((said) => ({ role: 'assistant', content: said })),
    ]),
  ];
}

function leastOfCall({ function: called }: NonNullable<Message['tool_calls']>[number]): string[] {
  return [called.name, ...textsOf(parsed(called.arguments))];
}

/** A model may have written no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
