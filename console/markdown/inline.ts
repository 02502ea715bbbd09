/** Text with its marks. A string is text and nothing else. */
export type Inline =
  | string
  | { readonly kind: 'strong' | 'emphasis' | 'struck'; readonly children: readonly Inline[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'link'; readonly address: string; readonly children: readonly Inline[] };

/** A mark that was opened, with what stands behind it so far. */
interface Frame {
  readonly mark: string;
  readonly children: Inline[];
}

/** The most marks that wait for their end. Older ones are text, so that each mark costs the same. */
const OPEN_MAX = 8;
const ADDRESS_CHARACTERS_MAX = 2_000;

const MARK = /\\[!-/:-@[-`{-~]|`+|\*+|_+|~+|!?\[|\]|<?https?:\/\//gi;
/** What stands behind the text of a link: its address, and a title that is not shown. */
const TARGET =
  /\(\s{0,3}(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*))(?:\s{1,3}"[^"\n]*")?\s{0,3}\)/y;
const BRACKETED = /<([^\s<>]*)>/y;
const BARE = /[^\s<>"'`*|\\^{}()[\]]+/y;
const KINDS = { 1: 'emphasis', 2: 'strong' } as const;

/**
 * Reads emphasis, code and links. Everything else is text: tags, entities, and the addresses of
 * pictures. The time grows with the length of the text alone.
 */
export function parseInline(text: string): Inline[] {
  const frames = createFrames();
  /** Lengths of runs of backticks that do not come again. */
  const unmatched = new Set<number>();
  let at = 0;
  const step = (mark: string, start: number): number => {
    const end = start + mark.length;
    if (mark.startsWith('`')) return readCode(text, { mark, end, unmatched }, frames);
    if (/^[*_~]/.test(mark)) {
      frames.mark(mark, text[start - 1] ?? ' ', text[end] ?? ' ');
      return end;
    }
    if (mark === ']') return readTarget(text, end, frames);
    if (mark.endsWith('[')) {
      frames.open(mark);
      return end;
    }
    if (mark.startsWith('\\')) {
      frames.append(mark.slice(1));
      return end;
    }
    return readAddress(text, start, frames);
  };
  MARK.lastIndex = 0;
  for (let found = MARK.exec(text); found !== null; found = MARK.exec(text)) {
    frames.append(text.slice(at, found.index));
    at = step(found[0], found.index);
    MARK.lastIndex = at;
  }
  frames.append(text.slice(at));
  return frames.end();
}

/** Code between two runs of as many backticks. @returns where to go on */
function readCode(
  text: string,
  { mark, end, unmatched }: { mark: string; end: number; unmatched: Set<number> },
  frames: Frames,
): number {
  const close = unmatched.has(mark.length) ? -1 : findRun(text, mark, end);
  if (close === -1) {
    unmatched.add(mark.length);
    frames.append(mark);
    return end;
  }
  const code = text.slice(end, close);
  // A space at each end keeps backticks of the code apart from those around it.
  const isApart = code.startsWith(' ') && code.endsWith(' ') && code.trim() !== '';
  frames.append({ kind: 'code', text: isApart ? code.slice(1, -1) : code });
  return close + mark.length;
}

function findRun(text: string, run: string, from: number): number {
  for (let at = text.indexOf(run, from); at !== -1; ) {
    let end = at + run.length;
    while (text[end] === '`') end += 1;
    if (end - at === run.length) return at;
    at = text.indexOf(run, end);
  }
  return -1;
}

/** The end of a link's text: a link, where an address that may be opened follows. */
function readTarget(text: string, end: number, frames: Frames): number {
  TARGET.lastIndex = end;
  const found = TARGET.exec(text);
  const address = found && safeAddress(found[1] ?? found[2] ?? '');
  if (!found || !address || !frames.link(address)) {
    frames.closeBracket();
    return end;
  }
  return end + found[0].length;
}

/** An address as it stands in the text. */
function readAddress(text: string, start: number, frames: Frames): number {
  const isBracketed = text[start] === '<';
  const form = isBracketed ? BRACKETED : BARE;
  form.lastIndex = start;
  const found = form.exec(text);
  const written = isBracketed ? (found?.[1] ?? '') : (found?.[0] ?? '').replace(/[.,:;!?]+$/, '');
  const address = safeAddress(written);
  // What cannot be opened is text, and is not looked at a second time.
  if (address === undefined) {
    frames.append(found?.[0] ?? '<');
    return start + (found?.[0].length ?? 1);
  }
  frames.append({ kind: 'link', address, children: [written] });
  return start + (isBracketed ? written.length + 2 : written.length);
}

/**
 * The address as a browser would open it, in ASCII alone. Undefined for every other scheme, and for one
 * that begins with a name of another host.
 */
function safeAddress(written: string): string | undefined {
  const isWeb = /^https?:\/\//i.test(written) && written.length <= ADDRESS_CHARACTERS_MAX;
  if (!isWeb || !URL.canParse(written)) return undefined;
  const { href, username, password } = new URL(written);
  return username || password ? undefined : href;
}

type Frames = ReturnType<typeof createFrames>;

/** The marks that are open, from the outermost on. The first one is the text itself. */
function createFrames() {
  const frames: [Frame, ...Frame[]] = [{ mark: '', children: [] }];
  const top = () => frames.at(-1) as Frame;
  const append = (child: Inline) => appendTo(top(), child);
  /** Closes the frame at this place. Those that are open within it were no marks. */
  const close = (index: number): Inline[] => {
    while (frames.length > index + 1) dissolve(frames.length - 1);
    return (frames.pop() as Frame).children;
  };
  /** What the mark was is text of the frame around it. */
  const dissolve = (index: number) => {
    const [frame] = frames.splice(index, 1) as [Frame];
    const around = frames[index - 1] as Frame;
    for (const child of [frame.mark, ...frame.children]) appendTo(around, child);
  };
  const openBracket = () => frames.findLastIndex(({ mark }) => mark.endsWith('['));
  const open = (mark: string) => {
    if (frames.length > OPEN_MAX) dissolve(1);
    frames.push({ mark, children: [] });
  };
  return {
    append,
    open,
    /** Takes a run of `*`, `_` or `~`. */
    mark(run: string, before: string, after: string) {
      const sign = run[0] as string;
      const { canOpen, canClose } = sidesOf(run, before, after);
      let rest = run;
      while (canClose && rest !== '') {
        const index = frames.findLastIndex(
          ({ mark }) => mark.startsWith(sign) && mark.length <= rest.length,
        );
        if (index === -1) break;
        const size = (frames[index] as Frame).mark.length as 1 | 2;
        const children = close(index);
        append({ kind: sign === '~' ? 'struck' : KINDS[size], children });
        rest = rest.slice(size);
      }
      if (rest === '') return;
      if (!canOpen) return append(rest);
      if (rest.length === 3) open(sign);
      open(rest.slice(-2));
    },
    /** The last open bracket and this one are text. */
    closeBracket() {
      const index = openBracket();
      if (index !== -1) dissolve(index);
      append(']');
    },
    /** Makes the last open bracket a link. @returns whether there was one */
    link(address: string): boolean {
      const index = openBracket();
      if (index === -1) return false;
      append({ kind: 'link', address, children: close(index).flatMap(withoutLinks) });
      return true;
    },
    end: () => close(0),
  };
}

/** As in the published format: a mark opens before a word and closes behind one. */
function sidesOf(run: string, before: string, after: string) {
  const isMark = run.startsWith('~') ? run.length === 2 : run.length <= 3;
  const isInside = run.startsWith('_') && /\w/.test(before) && /\w/.test(after);
  const canOpen = isMark && !isInside && /\S/.test(after);
  const canClose = isMark && !isInside && /\S/.test(before);
  return { canOpen, canClose };
}

function appendTo({ children }: Frame, child: Inline): void {
  const last = children.at(-1);
  if (child === '') return;
  if (typeof child === 'string' && typeof last === 'string') {
    children[children.length - 1] = last + child;
  } else children.push(child);
}

/** A link within a link opens what the outer one shows. */
function withoutLinks(child: Inline): Inline[] {
  if (typeof child === 'string' || child.kind === 'code') return [child];
  const children = child.children.flatMap(withoutLinks);
  return child.kind === 'link' ? children : [{ ...child, children }];
}
