/** A byte-level tokenizer in the form that models publish theirs, which knows two words. */

/** Each byte as the character that byte-level vocabularies write it with. */
function byteCharacters(): string[] {
  const isPrintable = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  let unprintable = 0;
  return Array.from({ length: 256 }, (_, byte) => {
    if (isPrintable(byte)) return String.fromCharCode(byte);
    unprintable += 1;
    return String.fromCharCode(255 + unprintable);
  });
}

const merges = [
  ['h', 'e'],
  ['l', 'l'],
  ['he', 'll'],
  ['hell', 'o'],
  ['Ġ', 'w'],
  ['o', 'r'],
  ['l', 'd'],
  ['Ġw', 'or'],
  ['Ġwor', 'ld'],
] as const;

const vocabulary = [...byteCharacters(), ...merges.map((pair) => pair.join(''))];

export const smallTokenizer = {
  version: '1.0',
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: {
    type: 'ByteLevel',
    add_prefix_space: false,
    trim_offsets: true,
    use_regex: true,
  },
  post_processor: null,
  decoder: { type: 'ByteLevel' },
  model: {
    type: 'BPE',
    vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])),
    merges,
  },
};
