import type { Rule } from '../rule.ts';

/** Models and the account. */
export const modelRules: readonly Rule[] = [
  {
    id: 'models.list',
    rule: 'The list has each hosted model with tier, prices, workers, latency, size and window.',
    shown: [
      'journeys/openaiClient › lists the models with their prices',
      'api/openapiResponses › for models and the account',
    ],
  },
  {
    id: 'models.hosted-only',
    rule: 'A model without workers is not listed, is shown by its id, and cannot be asked.',
    shown: [
      'journeys/httpSurface › is known, not listed, and answered with 503 before anything is locked',
    ],
  },
  {
    id: 'models.unknown',
    rule: 'An unknown model is a 400 in a completion and a 404 when it is looked up.',
    shown: [
      'journeys/openaiClient › throws BadRequestError for an unknown model, and NotFoundError for one it looks up',
    ],
  },
  {
    id: 'models.median-latency',
    rule: 'The latency shown is the median of ten minutes over the pool, 0 while nothing was observed.',
    shown: [
      'journeys/routing › is 0 at first, then the median over all processes, the same from each',
      'api/routingObservations › forgets what is older than ten minutes',
    ],
  },
  {
    id: 'models.retirement',
    rule: 'A model retires at an announced date at least 30 days ahead, and works until then.',
    shown: [
      'programs/modelRetire › announces a date, moves it, and takes it back',
      'programs/modelRetire › refuses a date less than 30 days ahead',
      'programs/jobLock › refuses a model from its retirement on',
    ],
  },
  {
    id: 'models.context-window',
    rule: 'Messages above the context window are refused before anything is locked.',
    shown: [
      'api/quote › refuses messages that fill the context window and says how much they hold',
      'api/quote › never allows more tokens than the context window leaves',
      'api/tokensCharged › refuses a prompt by its own tokens, and tells how many there are and may be',
    ],
  },
  {
    id: 'models.context-counted-by-worker',
    rule: 'Messages that only the worker finds too long end the job without a charge, as a 400.',
    shown: ['journeys/routing › ends a %s completion as a 400 that costs nothing'],
  },
  {
    id: 'models.engine',
    rule: 'An answer of the built-in engine says so in a header.',
    shown: [
      'journeys/httpSurface › ends with the settlement in its trailers, which the job confirms',
      'worker/builtinAnswer › streams role, text and finish chunk, and says which engine it was',
    ],
  },
  {
    id: 'account.balance',
    rule: 'The account shows wallet, available credits, their value, the last purchase and the key’s time.',
    shown: [
      'journeys/openaiClient › gets a plain completion that is settled and readable at once',
      'api/openapiResponses › for models and the account',
    ],
  },
];
