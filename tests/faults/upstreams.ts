import { delay } from '../../common/wait.ts';
import type { Random } from '../../testing/random.ts';
import { type AnswerScript, type Reply, startUpstream } from '../worker/upstreamServer.ts';
import type { Received } from './client.ts';
import { drawWeighted, type Tally } from './tally.ts';
import {
  answerInDialect,
  isUnpayable,
  playUpstreamFault,
  UPSTREAM_WEIGHTS,
} from './upstreamFaults.ts';

const FAULTY_UPSTREAMS = 6;
/** Behind workers that nothing may be counted against. */
const HONEST_UPSTREAMS = 2;
const SILENCE_MS_MAX = 1_500;
/** The built-in engine calls a tool that the question names. */
export const GREET = {
  type: 'function',
  function: {
    name: 'greet',
    parameters: { type: 'object', properties: { guest: { type: 'string' } }, required: ['guest'] },
  },
};

/** Model servers, faulty and honest, which remember what they made of each question. */
export interface Upstreams {
  urls: readonly string[];
  /** Which of them are honest. */
  honest: readonly number[];
  /** What is wrong with a charge for what this one answered; undefined if nothing, or if it is none of them. */
  judge(
    index: number,
    asked: { question: string; whole: Received | undefined },
  ): string | undefined;
  close(): void;
}

/** Calls the tool that the worker's trial forces. */
const callForced: AnswerScript = (reply, body) => {
  const [{ function: tool }] = body.tools as [{ function: ForcedTool }];
  const given = Object.keys(tool.parameters.properties).map((name) => [name, 7]);
  sayingByCalls(reply, tool.name).text(JSON.stringify(Object.fromEntries(given)));
  reply.complete('tool_calls');
};

interface ForcedTool {
  name: string;
  parameters: { properties: object };
}

/** The same reply, whose text is the arguments of one call. */
function sayingByCalls(reply: Reply, name = GREET.function.name): Reply {
  let hasBegun = false;
  return {
    ...reply,
    text(said) {
      const begun = hasBegun ? {} : { id: 'call_1', type: 'function' };
      const called = { ...(hasBegun ? {} : { name }), arguments: said };
      hasBegun = true;
      reply.calls({ index: 0, ...begun, function: called });
    },
  };
}

/** One answer: how it broke, or the text that must come of it, where that is known. */
type Answer = { broken: string } | 'payable' | { text: string };

const isBroken = (answer: Answer) => typeof answer === 'object' && 'broken' in answer;
const isText = (answer: Answer) => typeof answer === 'object' && 'text' in answer;

export async function openUpstreams(options: { random: Random; tally: Tally }): Promise<Upstreams> {
  const { random, tally } = options;
  const answers = new Map<string, Answer[]>();
  const servers = await Promise.all(
    Array.from({ length: FAULTY_UPSTREAMS + HONEST_UPSTREAMS }, () => startUpstream()),
  );
  const keyOf = (index: number, question: string): string => `${index} ${question}`;

  function note(index: number, body: Record<string, unknown>, answer: Answer): void {
    const [{ content }] = body.messages as [{ content: string }];
    const key = keyOf(index, content);
    // A stop sequence ends an answer before its model server can break it, or end it.
    const given = body.stop === undefined ? answer : 'payable';
    answers.set(key, [...(answers.get(key) ?? []), given]);
  }

  for (const [index, server] of servers.entries()) {
    server.answerToolTrialWith(callForced);
    server.answerWith(async (given, body) => {
      const isCalling = body.tools !== undefined;
      const reply = isCalling ? sayingByCalls(given) : given;
      if (index >= FAULTY_UPSTREAMS && isCalling) {
        tally.note('upstream silent at first, then calls');
        await delay(random.below(SILENCE_MS_MAX));
        reply.text('{"guest":"you"}');
        reply.complete('tool_calls', 3, 9);
        note(index, body, { text: '' });
        return;
      }
      if (index >= FAULTY_UPSTREAMS) {
        tally.note('upstream silent at first, then whole in a dialect');
        const text = await answerInDialect(reply, random, SILENCE_MS_MAX);
        note(index, body, { text });
        return;
      }
      const fault = drawWeighted(random, UPSTREAM_WEIGHTS);
      tally.note(`upstream ${fault}${isCalling ? ', in a call' : ''}`);
      note(index, body, isUnpayable(fault) ? { broken: fault } : 'payable');
      await playUpstreamFault(fault, reply, random);
    });
  }
  return {
    urls: servers.map(({ url }) => url),
    honest: servers.flatMap((_, index) => (index >= FAULTY_UPSTREAMS ? index : [])),
    judge(index, { question, whole }) {
      if (index < 0) return undefined;
      const given = answers.get(keyOf(index, question));
      if (!given) return 'for an answer that its model server never gave';
      const faults = given.flatMap((answer) => (isBroken(answer) ? answer.broken : []));
      if (faults.length === given.length) {
        return `where the model server's faults were: ${faults.join(', ')}`;
      }
      const texts = given.flatMap((answer) => (isText(answer) ? answer.text : []));
      const isKnown = texts.length === given.length;
      if (!whole || !isKnown || texts.includes(whole.text)) return undefined;
      return `for a text that is none of ${JSON.stringify(texts)}`;
    },
    close() {
      for (const server of servers) server.close();
    },
  };
}
