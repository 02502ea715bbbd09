import type { Rule } from '../rule.ts';

/** POST /v1/chat/completions: what is sent, and the two forms of the answer. */
export const completionRules: readonly Rule[] = [
  {
    id: 'completions.compatible',
    rule: 'Existing clients of the chat-completions format work with base address and key changed.',
    shown: [
      'journeys/openaiClient › gets a plain completion that is settled and readable at once',
      'journeys/otherClients › LangChain › gets a plain answer with its usage',
      'journeys/otherClients › the Vercel AI SDK › gets a plain answer with its usage',
    ],
  },
  {
    id: 'completions.required-fields',
    rule: 'Model and messages are required, everything else is optional.',
    shown: [
      'api/chatCompletionContract › is accepted with nothing but a model and a message',
      'api/chatCompletionContract › refuses a bad value and names %s',
    ],
  },
  {
    id: 'completions.field-ranges',
    rule: 'Sampling fields out of their ranges are refused, and the field is named.',
    shown: [
      'api/chatCompletionContract › refuses a bad value and names %s',
      'journeys/openaiClient › throws BadRequestError for a temperature of 3 and names it',
    ],
  },
  {
    id: 'completions.roles',
    rule: 'Messages are from system, user or assistant; developer is read as system.',
    shown: [
      'api/chatCompletionContract › reads the developer role as system and joins text parts',
      'api/chatCompletionContract › refuses a bad value and names %s',
    ],
  },
  {
    id: 'completions.unsupported',
    rule: 'Tools, functions, logit bias, log probabilities, several choices, response formats and media are refused unless off.',
    shown: [
      'api/chatCompletionContract › accepts %j',
      'api/chatCompletionContract › refuses a bad value and names %s',
    ],
  },
  {
    id: 'completions.body-limits',
    rule: 'A body above 4 MiB, more than 2,048 messages, or what is no JSON object is a 400.',
    shown: [
      'journeys/httpSurface › is answered with invalid_request: %s',
      'api/chatCompletionContract › refuses a bad value and names %s',
      'api/chatCompletionContract › refuses %j, which is no object',
    ],
  },
  {
    id: 'completions.plain',
    rule: 'A plain answer is one completion object with id, choices, finish reason and usage.',
    shown: [
      'journeys/openaiClient › gets a plain completion that is settled and readable at once',
      'api/openapiResponses › for a completion, its job, and disputes of it',
    ],
  },
  {
    id: 'completions.plain-headers',
    rule: 'A plain answer names its job, lock, settlement, worker and remaining credits in headers.',
    shown: ['journeys/openaiClient › gets a plain completion that is settled and readable at once'],
  },
  {
    id: 'completions.stream',
    rule: 'A stream starts with the assistant role, ends with an empty delta and a finish reason, then [DONE].',
    shown: [
      'journeys/openaiClient › gets a stream: role first, text, finish reason, end',
      'journeys/httpSurface › ends with the settlement in its trailers, which the job confirms',
      'api/openapiResponses › for each chunk of a streamed completion',
    ],
  },
  {
    id: 'completions.stream-usage',
    rule: 'Usage comes in a chunk without choices, and only on request.',
    shown: [
      'journeys/openaiClient › gets usage in a stream when it asks for it, in a chunk without choices',
    ],
  },
  {
    id: 'completions.stream-headers',
    rule: 'A stream is an event stream that no proxy changes or buffers.',
    shown: [
      'journeys/httpSurface › ends with the settlement in its trailers, which the job confirms',
    ],
  },
  {
    id: 'completions.stream-trailers',
    rule: 'Settlement, remaining credits, output hash and delivery receipt follow a stream as trailers.',
    shown: [
      'journeys/httpSurface › ends with the settlement in its trailers, which the job confirms',
    ],
  },
  {
    id: 'completions.stream-keep-alive',
    rule: 'A stream silent for ten seconds carries a comment.',
    shown: [
      'journeys/whoPaysAnswer › carries a comment after every ten seconds of silence, and none while text comes',
    ],
  },
  {
    id: 'completions.stream-error',
    rule: 'A failure after the first content is one error event without [DONE].',
    shown: ['journeys/failures › costs nothing when its worker misbehaves: %s'],
  },
  {
    id: 'completions.max-tokens',
    rule: 'The answer never exceeds the token limit, and says that it was cut.',
    shown: [
      'journeys/openaiClient › is told the answer was cut by max_tokens',
      'worker/builtinAnswer › never exceeds the token limit and says so',
    ],
  },
  {
    id: 'completions.stop-and-seed',
    rule: 'Stop sequences end the text before them; an equal seed gives an equal text where the engine can.',
    shown: [
      'worker/builtinEngine › ends before the first stop sequence, wherever tokens cut it',
      'worker/builtinEngine › gives the same text for the same conversation and seed, and another for another',
    ],
  },
  {
    id: 'completions.slow-reader',
    rule: 'A client that reads slowly never slows the worker.',
    shown: [
      'journeys/whoPaysAnswer › whose client reads nothing is answered and settled at the worker’s pace, and read later',
    ],
  },
  {
    id: 'completions.unsettled-in-time',
    rule: 'A plain answer whose settlement is not confirmed within 10 s comes without that header.',
    shown: [
      'journeys/whoPaysOutage › that was locked before is answered without its settlement, which comes with the ledger',
    ],
  },
];
