import { closeOf, oneLine, openOf } from './rustText.ts';

/** A block of a function's body that not every run goes through. */
interface Block {
  open: number;
  close: number;
  /** What stands before the brace: `if …`, `else if …`, `else`, `match …`, `let … else`, `… =>` */
  head: string;
}

/** The blocks of a body that depend on a condition, in order. */
export const findBlocks = (body: string): Block[] => {
  const blocks: Block[] = [];
  for (const { index: open } of body.matchAll(/\{/g)) {
    const before = body.slice(0, open);
    const start = Math.max(...[';', '{', '}'].map((mark) => before.lastIndexOf(mark))) + 1;
    const head = oneLine(before.slice(start)).replace(/^.*, (?=[^,]* =>$)/, '');
    const isCondition = /^(?:if|else|match|for) |^else$| else$| =>$/.test(head);
    const assigned = /^let \w+ = (if .+)$/.exec(head)?.[1];
    if (isCondition || assigned !== undefined) {
      blocks.push({ open, close: closeOf(body, open), head: assigned ?? head });
    }
  }
  return blocks;
};

/** The heads of the blocks around a position, outermost first. */
export const headsAround = (blocks: readonly Block[], at: number): string[] =>
  blocks.filter(({ open, close }) => open < at && at < close).map(({ head }) => head);

/** The pattern of the `match` arm that an expression without braces belongs to, if it is in one. */
export const armBefore = (body: string, at: number): string | undefined =>
  /(?:^|[{,}])\s*([^{},;]+?) =>\s*(?:return )?$/.exec(body.slice(0, at))?.[1];

/** The patterns of the arms of the `match` around a position. */
export const armsAround = (body: string, at: number): string[] => {
  let depth = 0;
  let open = at;
  for (; open >= 0; open -= 1) {
    if (body[open] === '}') depth += 1;
    if (body[open] === '{') depth -= 1;
    if (depth < 0) break;
  }
  const inside = body.slice(open + 1, closeOf(body, open));
  return [...inside.matchAll(/(?:^|,)\s*([^,{}]+?) =>/g)].map((found) => found[1] ?? '');
};

/** Where the chain of names, calls and fields begins that ends before the dot at `dot`. */
export const chainStart = (body: string, dot: number): number => {
  const skip = (pattern: RegExp, from: number): number => {
    let at = from;
    while (pattern.test(body[at] ?? '')) at -= 1;
    return at;
  };
  let at = dot - 1;
  for (;;) {
    at = skip(/[\s?]/, at);
    if (/[)\]}]/.test(body[at] ?? '')) at = skip(/ /, openOf(body, at) - 1);
    if (body[at] === '>') at = body.lastIndexOf('::<', at) - 1;
    at = skip(/[\w:]/, at);
    const linked = skip(/\s/, at);
    if (body[linked] !== '.') return at + 1;
    at = linked - 1;
  }
};
