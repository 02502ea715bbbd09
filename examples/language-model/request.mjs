/** What a client can put right: answered with status 400 in the usual shape. */
export class ChatError extends Error {
  constructor(message, { code = 'invalid_request', param = null } = {}) {
    super(message);
    this.code = code;
    this.param = param;
  }
}

const ROLES = ['system', 'user', 'assistant'];

/** Unless the request says otherwise. Much colder, so small a model repeats itself without end. */
const TEMPERATURE = 0.7;
const TOP_P = 0.9;

/**
 * The fields of a chat-completions body that matter here.
 *
 * @throws ChatError naming what is missing or malformed
 */
export function parseChat(text) {
  const body = parseJson(text);
  const { messages, stop, max_tokens: maxTokens } = body;
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage)) {
    throw new ChatError('messages must be a list of {role, content} texts', { param: 'messages' });
  }
  if (maxTokens != null && !(Number.isSafeInteger(maxTokens) && maxTokens > 0)) {
    throw new ChatError('max_tokens must be a positive integer', { param: 'max_tokens' });
  }
  return {
    messages,
    maxTokens,
    stop: [stop ?? []].flat(),
    temperature: body.temperature ?? TEMPERATURE,
    topP: body.top_p ?? TOP_P,
    seed: body.seed ?? undefined,
    frequencyPenalty: body.frequency_penalty ?? 0,
    presencePenalty: body.presence_penalty ?? 0,
    isStream: body.stream === true,
    includeUsage: body.stream_options?.include_usage === true,
  };
}

function parseJson(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    throw new ChatError('The body is not JSON');
  }
}

function isMessage(message) {
  return ROLES.includes(message?.role) && typeof message.content === 'string';
}
