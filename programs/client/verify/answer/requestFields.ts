/** What becomes of each field of a request. The vectors have the same list, for every verifier. */
export const REQUEST_FIELDS = {
  /** Read in a way of their own, and given to a worker. */
  shaped: [
    ...['model', 'messages', 'stop', 'response_format'],
    ...['tools', 'tool_choice', 'parallel_tool_calls'],
  ],
  /** Given as they are sent. Null means that they are absent. */
  nullable: ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed'],
  /** Of these an empty list or object means it, too. */
  emptyable: [
    ...['top_k', 'min_p', 'repetition_penalty', 'reasoning_effort', 'logit_bias'],
    'chat_template_kwargs',
  ],
  /** Only concern the service. */
  left_out: [
    ...['stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'max_credits', 'user'],
    ...['store', 'metadata', 'service_tier', 'safety_identifier', 'prompt_cache_key'],
  ],
  /** Refused, but for null, what is empty, and these values, which turn them off. */
  off: {
    ...{ n: [1], functions: [], function_call: ['none'] },
    ...{ logprobs: [false], top_logprobs: [0], best_of: [1], prediction: [], models: [] },
    ...{ guided_json: [], guided_regex: [], guided_choice: [], guided_grammar: [] },
    ...{ modalities: [['text']], audio: [] },
  } as Readonly<Record<string, readonly unknown[]>>,
  roles: ['system', 'user', 'assistant', 'developer', 'tool'],
  message_fields: ['role', 'content', 'refusal', 'name', 'tool_calls', 'tool_call_id'],
} as const;

/** The same of the fields that only a request of responses has, or says in another way. */
export const RESPONSES_FIELDS = {
  /** Those of a chat completion are made of them. */
  translated: [
    ...['input', 'instructions', 'max_output_tokens', 'text', 'reasoning', 'tools', 'tool_choice'],
  ],
  left_out: ['include', 'client_metadata', 'max_tool_calls', 'prompt_cache_retention'],
  /** Refused, but for null, what is empty, and these values. */
  off: {
    ...{ previous_response_id: [], conversation: [], prompt: [] },
    ...{ background: [false], truncation: ['disabled'] },
    ...{ messages: [], max_tokens: [], max_completion_tokens: [], response_format: [] },
    reasoning_effort: [],
  } as Readonly<Record<string, readonly unknown[]>>,
  /** Tools that known clients always offer, and that only their maker's service has. */
  left_out_tools: [
    ...['web_search', 'web_search_2025_08_26', 'web_search_preview'],
    ...['web_search_preview_2025_03_11', 'namespace'],
  ],
} as const;
