import { delay } from '../../common/wait.ts';
import type { Random } from '../../testing/random.ts';
import { bodyFor, ROUTES, type Route } from '../../testing/service/formats.ts';
import { complete, type Leaving, type Received } from './client.ts';
import type { Scene, Wallet } from './scene.ts';
import { drawWeighted, type Tally } from './tally.ts';
import { GREET } from './upstreams.ts';

/** What a client does wrong, or is right to do. */
const CLIENT_WEIGHTS = {
  patient: 10,
  'leaves before an answer': 4,
  'leaves at the first text': 4,
  'leaves at [DONE]': 3,
  'asks twice at once': 3,
  'repeats after the end': 3,
  'retries silently': 2,
  'empties its answer': 2,
  'sends nonsense': 2,
  'has no such key': 1,
};

/** One client's doings with one wallet in a round. */
export interface Episode {
  wallet: Wallet;
  /** What it asks, which no other asks. */
  question: string;
  received: Received[];
  /** Whether its API process may be killed under it. */
  isEndangered: boolean;
  /** Plays it to its end. */
  play(): Promise<void>;
  /** Repeats what broke off, once there is an API again. */
  repeatBroken(baseUrl: string): Promise<void>;
}

const NONSENSE = [
  '{',
  '[]',
  '{"model": 7}',
  '{"model": "none", "messages": [{"role": "user", "content": "Hi."}]}',
];
/** Four at most; few texts have none of them. */
const ANY_LETTER = ['e', 'a', 'o', 'T'];
const STAGGER_MS = 400;

export function createEpisode(options: {
  scene: Scene;
  random: Random;
  tally: Tally;
  wallet: Wallet;
  baseUrl: string;
  isEndangered: boolean;
}): Episode {
  const { scene, random, tally, wallet, baseUrl, isEndangered } = options;
  const kind = drawWeighted(random, CLIENT_WEIGHTS);
  const isStream = random.below(2) === 0;
  const name = Buffer.from(random.bytes(8)).toString('hex');
  const startMs = random.below(STAGGER_MS);
  const leaveMs = random.below(60);
  const received: Received[] = [];
  const hasTools = random.below(2) === 0;
  const question = `Say hello to ${name}${hasTools ? ', and greet it' : ''}.`;
  const route = ROUTES[random.below(ROUTES.length)] as Route;
  const chat = {
    model: scene.service.model.id,
    messages: [{ role: 'user', content: question }],
    ...(kind === 'empties its answer' && { stop: ANY_LETTER }),
    ...(hasTools && { tools: [GREET] }),
    ...(isStream && { stream: true, stream_options: { include_usage: true } }),
  };
  const body = JSON.stringify(bodyFor(route, chat));
  const keyed = { authorization: `Bearer ${wallet.apiKey}`, 'idempotency-key': name };

  async function ask(
    headers: Record<string, string> = keyed,
    leaving?: Leaving,
    changed = body,
  ): Promise<Received> {
    const heard = await complete({ baseUrl, route, headers, body: changed, leaving });
    received.push(heard);
    return heard;
  }

  const noteFault = (): void => {
    if (kind !== 'patient') tally.note(`client ${kind}`);
  };

  return {
    ...{ wallet, question, received, isEndangered },
    async play() {
      await delay(startMs);
      noteFault();
      switch (kind) {
        case 'patient':
        case 'empties its answer':
          return void (await ask());
        case 'leaves before an answer':
          return void (await ask(keyed, { afterMs: leaveMs }));
        case 'leaves at the first text':
          return void (await ask(keyed, isStream ? 'at first text' : { afterMs: leaveMs * 4 }));
        case 'leaves at [DONE]':
          return void (await ask(keyed, isStream ? 'at done' : { afterMs: leaveMs * 8 }));
        case 'asks twice at once':
          return void (await Promise.all([ask(), ask()]));
        case 'repeats after the end':
          await ask();
          return void (await ask());
        case 'retries silently': {
          const { authorization } = keyed;
          const first = await ask({ authorization, 'x-stainless-retry-count': '0' });
          // A client with a whole answer has no reason to. A broken one is repeated in another place.
          if (first.outcome === 'error') {
            await ask({ authorization, 'x-stainless-retry-count': '1' });
          }
          return;
        }
        case 'sends nonsense':
          return void (await ask(keyed, undefined, NONSENSE[random.below(NONSENSE.length)]));
        case 'has no such key':
          return void (await ask({ authorization: `Bearer svc_live_${name.repeat(2)}` }));
      }
    },
    async repeatBroken(repeatUrl) {
      if (!received.some(({ outcome }) => outcome === 'broken')) return;
      const headers =
        kind === 'retries silently'
          ? { authorization: keyed.authorization, 'x-stainless-retry-count': '1' }
          : keyed;
      received.push(await complete({ baseUrl: repeatUrl, route, headers, body }));
    },
  };
}
