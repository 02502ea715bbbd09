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
