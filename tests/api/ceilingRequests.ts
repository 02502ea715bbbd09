import type { Random } from '../../testing/random.ts';

/** What a model costs, as its account on the ledger says. */
export interface Price {
  creditsPerRequest: number;
  creditsPer1kTokens: number;
  longCompletionThresholdTokens: number;
  contextWindowTokens: number;
}

/** A request with a ceiling, and what it is to be. */
export interface Asked {
  modelId: string;
  isPoor: boolean;
  isStream: boolean;
  content: string;
  maxTokens: number | undefined;
  /** None: any price is taken. */
  ceiling: number | undefined;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  /** The code of its 400; its ceiling does not matter then. */
  fault: 'invalid_request' | 'model_not_found' | undefined;
}

/** What became of a request: its status, with the credits that it locked or would lock. */
export type Outcome =
  | `${'locked' | 'above its ceiling' | 'unpaid'} ${bigint}`
  | `refused ${string}`;

const RATE_TOKENS = 1_000n;
const BYTES_PER_TOKEN = 8;

/** The token limit by the published rule: what is asked for, or what the price per request covers. */
function limitOf(price: Price, { maxTokens, content }: Asked): number {
  const covered = Math.floor((price.creditsPerRequest * 1_000) / price.creditsPer1kTokens);
  const wanted = maxTokens ?? Math.max(covered, price.longCompletionThresholdTokens);
  const words = content.trim().split(' ').length;
  const least = Math.max(Math.ceil(Buffer.byteLength(content) / BYTES_PER_TOKEN), words);
  return Math.min(wanted, price.contextWindowTokens - least);
}

/** The lock by the published rule: the higher of the price per request and that of the limit. */
function lockOf(price: Price, tokenLimit: number): bigint {
  const perRequest = BigInt(price.creditsPerRequest);
  if (tokenLimit <= price.longCompletionThresholdTokens) return perRequest;
  const all = BigInt(tokenLimit) * BigInt(price.creditsPer1kTokens);
  const atLimit = (all + RATE_TOKENS - 1n) / RATE_TOKENS;
  return atLimit > perRequest ? atLimit : perRequest;
}

/** The credits that a request locks at this price. */
function priceOf(price: Price, asked: Asked): bigint {
  return lockOf(price, limitOf(price, asked));
}

/**
 * What may become of a request: one thing, unless the price has changed and is not shown yet. Then a
 * request that met such a change may have had the new price shown to all others.
 */
export function outcomesOf(asked: Asked, prices: { shown: Price; onLedger: Price }): Outcome[] {
  if (asked.fault !== undefined) return [`refused ${asked.fault}`];
  const { shown, onLedger } = prices;
  return [...new Set([shown, onLedger].map((quotedBy) => outcomeOf(asked, quotedBy, onLedger)))];
}

function outcomeOf(asked: Asked, quotedBy: Price, onLedger: Price): Outcome {
  const quoted = priceOf(quotedBy, asked);
  if (isAbove(quoted, asked)) return `above its ceiling ${quoted}`;
  if (asked.isPoor) return `unpaid ${quoted}`;
  const taken = lockOf(onLedger, limitOf(quotedBy, asked));
  // The lock names the quote as its most, and the ledger refuses it above.
  if (taken <= quoted) return `locked ${taken}`;
  const requoted = priceOf(onLedger, asked);
  return isAbove(requoted, asked) ? `above its ceiling ${requoted}` : `locked ${requoted}`;
}

/** Whether the ledger refuses the lock that the shown price gives, so that it is quoted again. */
export function isQuotedAgain(asked: Asked, prices: { shown: Price; onLedger: Price }): boolean {
  if (asked.fault !== undefined || asked.isPoor) return false;
  const { shown, onLedger } = prices;
  const quoted = priceOf(shown, asked);
  if (isAbove(quoted, asked)) return false;
  return lockOf(onLedger, limitOf(shown, asked)) > quoted;
}

function isAbove(credits: bigint, { ceiling }: Asked): boolean {
  return ceiling !== undefined && BigInt(ceiling) < credits;
}

const WORDS_MAX = 60;
const CREDITS_MAX = 200;

/** @param models the ids to draw from, the first most often, with the prices to draw about */
export function drawRequest(random: Random, models: ReadonlyMap<string, Price>): Asked {
  const { oneOf, once } = createDraw(random);
  const ids = [...models.keys()];
  const modelId = once(2) ? (ids[0] as string) : oneOf(ids);
  const asked: Asked = {
    modelId,
    isPoor: once(6),
    isStream: once(2),
    content: 'word '.repeat(1 + random.below(WORDS_MAX)),
    maxTokens: drawMaxTokens(random),
    ceiling: undefined,
    headers: {},
    body: {},
    fault: undefined,
  };
  const price = priceOf(models.get(modelId) as Price, asked);
  const near = oneOf([price - 1n, price, price + 1n, 1n, BigInt(1 + random.below(CREDITS_MAX))]);
  const drawn = { ...asked, ...carry(random, Number(near)) };
  if (drawn.fault !== undefined || !once(12)) return drawn;
  return once(2)
    ? { ...drawn, fault: 'model_not_found', modelId: 'no-such-model' }
    : { ...drawn, fault: 'invalid_request', body: { ...drawn.body, temperature: 3 } };
}

function createDraw(random: Random) {
  return {
    oneOf: <Item>(items: readonly Item[]): Item => items[random.below(items.length)] as Item,
    /** True once in `times`. */
    once: (times: number): boolean => random.below(times) === 0,
  };
}

function drawMaxTokens(random: Random): number | undefined {
  const drawn = [undefined, 499 + random.below(4), 1 + random.below(5_000), 2 ** 31 - 1];
  return createDraw(random).oneOf(drawn);
}

const NAME = 'x-svc-max-credits';
const WRONG_HEADERS = [
  ...['', '0', '-1', '+8', '8.0', '1e3', '0x10', '8 credits', '8, 8', 'é', 'null', 'Infinity'],
  ...[String(2 ** 53), '1'.repeat(40)],
];
const WRONG_FIELDS = [0, -1, 1.5, 1e300, 2 ** 53, '8', '', true, [], [8], {}, { credits: 8 }];

/** How the ceiling is sent: by header, by body, by both, or by neither; at times wrong. */
function carry(
  random: Random,
  ceiling: number,
): Pick<Asked, 'ceiling' | 'headers' | 'body' | 'fault'> {
  const { oneOf, once } = createDraw(random);
  // A price of 1 has no ceiling below it: 0 is none.
  const fault = ceiling < 1 ? 'invalid_request' : undefined;
  const byHeader = { [NAME]: String(ceiling) };
  const byBody = { max_credits: ceiling };
  switch (random.below(8)) {
    case 0:
      return {
        ceiling: undefined,
        headers: {},
        body: once(2) ? { max_credits: null } : {},
        fault: undefined,
      };
    case 1:
    case 2:
      return { ceiling, headers: byHeader, body: once(4) ? { max_credits: null } : {}, fault };
    case 3:
    case 4:
      return { ceiling, headers: {}, body: byBody, fault };
    case 5:
      return { ceiling, headers: byHeader, body: byBody, fault };
    case 6: {
      const body = { max_credits: ceiling + 1 + random.below(CREDITS_MAX) };
      return { ceiling, headers: byHeader, body, fault: 'invalid_request' };
    }
    default: {
      const headers = once(2) ? { [NAME]: oneOf(WRONG_HEADERS) } : byHeader;
      const isWrong = headers[NAME] !== byHeader[NAME];
      const body = isWrong ? {} : { max_credits: oneOf(WRONG_FIELDS) };
      return { ceiling, headers, body, fault: 'invalid_request' };
    }
  }
}
