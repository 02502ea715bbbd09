import { randomUUID } from 'node:crypto';

/** Answers with one chat completion. @param generate runs the model with a receiver of its text */
export async function complete(response, modelName, generate) {
  const head = headOf('chat.completion', modelName);
  let content = '';
  const end = await generate((piece) => {
    content += piece;
  });
  const message = { role: 'assistant', content };
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({
      ...head,
      choices: [{ index: 0, message, finish_reason: end.finishReason }],
      usage: usageOf(end),
    }),
  );
}

/** Answers with a stream of chunks. Nothing is sent before the first text: an error has its status. */
export async function stream(response, modelName, includeUsage, generate) {
  const head = headOf('chat.completion.chunk', modelName);
  const send = (rest) => response.write(`data: ${JSON.stringify({ ...head, ...rest })}\n\n`);
  const choose = (delta, finish_reason = null) =>
    send({ choices: [{ index: 0, delta, finish_reason }] });
  const begin = () => {
    if (response.headersSent) return;
    response.setHeader('content-type', 'text/event-stream; charset=utf-8');
    choose({ role: 'assistant', content: '' });
  };
  const end = await generate((content) => {
    begin();
    choose({ content });
  });
  begin();
  choose({}, end.finishReason);
  if (includeUsage) send({ choices: [], usage: usageOf(end) });
  response.end('data: [DONE]\n\n');
}

function headOf(object, model) {
  return { id: `chatcmpl-${randomUUID()}`, object, created: Math.floor(Date.now() / 1_000), model };
}

function usageOf({ promptTokens, completionTokens }) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
