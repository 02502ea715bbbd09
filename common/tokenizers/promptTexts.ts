/** What of a request its model reads. */
interface Prompt {
  readonly messages: readonly { readonly content: string; readonly tool_calls?: unknown }[];
  readonly tools?: unknown;
}

/** All of it, calls and tools as JSON: so long the reading takes, to API and worker alike. */
export function promptTexts({ messages, tools }: Prompt): { content: string }[] {
  return [
    ...messages.map(({ content, tool_calls }) => ({
      content: tool_calls ? content + JSON.stringify(tool_calls) : content,
    })),
    ...(tools ? [{ content: JSON.stringify(tools) }] : []),
  ];
}
