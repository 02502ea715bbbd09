import { Lexer, type Token, Tokenizer, walkTokens } from 'marked';

/** A browser would take too long for a longer text, and for one of more parts. */
const TEXT_CHARACTERS_MAX = 50_000;
const TOKENS_MAX = 5_000;
/** Nine quotes and lists within each other on a line: the lexer reads them by recursion. */
const NESTED = /^(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])){9}/m;
/** A paragraph with more marks keeps them as text: the lexer's time grows with their square. */
const MARKS_MAX = 400;

/** HTML is text. So are definitions of links, which would otherwise not be shown. */
class TextTokenizer extends Tokenizer {
  override html(): undefined {}
  override tag(): undefined {}
  override def(): undefined {}
}

/** @returns the blocks of a text; undefined where it has to be shown as it came */
export function lexMarkdown(text: string): Token[] | undefined {
  if (text.length > TEXT_CHARACTERS_MAX || NESTED.test(text)) return undefined;
  const lexer = new Lexer({ gfm: true, tokenizer: new TextTokenizer() });
  const blocks = lexer.blockTokens(text.replaceAll(/\r\n?/g, '\n'), []);
  for (const { src, tokens } of lexer.inlineQueue) {
    if ((src.match(/[*_~[]/g) ?? []).length <= MARKS_MAX) lexer.inlineTokens(src, tokens);
    else tokens.push({ type: 'text', raw: src, text: src });
  }
  let count = 0;
  walkTokens(blocks, () => {
    count += 1;
  });
  return count <= TOKENS_MAX ? blocks : undefined;
}

const ADDRESS_CHARACTERS_MAX = 2_000;

/**
 * The address as a browser would open it, in ASCII alone. Undefined for every scheme but http and https,
 * and for one that begins with a name of another host.
 */
export function safeAddress(written: string): string | undefined {
  const isWeb = /^https?:\/\//i.test(written) && written.length <= ADDRESS_CHARACTERS_MAX;
  if (!isWeb || !URL.canParse(written)) return undefined;
  const { href, username, password } = new URL(written);
  return username || password ? undefined : href;
}
