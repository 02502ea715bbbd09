import { express } from './bindings.ts';
import { armBefore, armsAround, findBlocks, headsAround } from './blocks.ts';
import type { Names } from './names.ts';

/** A function on a handler's way. */
export interface Body extends Names {
  /** Conditions under which it is called */
  when: string[];
}

/** The conditions around a position, in the handler's words. */
export const conditionsAt = (body: Body, at: number): string[] => {
  const { item, bindings, when } = body;
  const heads = headsAround(findBlocks(item.body), at)
    .filter((head) => !/^match |^let | else$|^_ =>$/.test(head))
    .map((head) => express(head.replace(/^.*?\b(if .*) =>$/, '$1'), bindings));
  const skipped = earlyReturns(body)
    .filter((early) => early.close < at)
    .map(({ condition }) => condition.replace(/^if /, 'unless '));
  return [...when, ...skipped, ...heads];
};

/** The blocks in which a helper returns successfully, so that the rest is skipped. */
const earlyReturns = ({ item, bindings }: Body): { close: number; condition: string }[] =>
  item.name === 'process'
    ? []
    : findBlocks(item.body)
        .filter(({ open, close }) =>
          /\breturn (?!Err\()[^;]*;\s*$/.test(item.body.slice(open + 1, close)),
        )
        .map(({ close, head }) => ({ close, condition: express(head, bindings) }));

/** What spares the refusal at `at`: the pattern of a `let … else`, or the other arms of a match. */
export const alternative = (body: Body, at: number): string => {
  const code = body.item.body;
  const blocks = headsAround(findBlocks(code), at);
  const pattern = /^let (.+?) = (.+) else$/.exec(blocks.at(-1) ?? '');
  if (pattern !== null) {
    const value = express(pattern[2] ?? '', body.bindings);
    return `${value} is ${/^Ok/.test(pattern[1] ?? '') ? 'Ok' : 'Some'}`;
  }
  if (armBefore(code, code.lastIndexOf('Err(', at)) === '_') {
    const matched = /^match (.+)$/.exec(blocks.at(-1) ?? '')?.[1] ?? '';
    const arms = armsAround(code, at).filter((arm) => arm !== '_');
    return `${express(matched, body.bindings)} is one of ${arms.join(', ')}`;
  }
  throw new Error(`${body.item.file}: what does the refusal in ${body.item.name} depend on?`);
};
