import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { readModelCards } from '../../api/models/cards.ts';
import { ConfigError } from '../../common/config.ts';
import { createLogger } from '../../common/logger.ts';
import { modelCardHash } from '../../programs/client/modelCard.ts';
import { bytesToHex } from '../../programs/client/platform/bytes.ts';
import { ownFolder } from '../../testing/ownFolder.ts';

const card = (revision: string) => ({
  ...{ source: 'https://models.example/8b', revision, weights_digest: null },
  ...{ quantization: 'none', tokenizer_digest: null, chat_template_digest: null },
  ...{ default_sampling: {}, licence: 'MIT' },
});
const hashOf = (revision: string) => bytesToHex(modelCardHash(card(revision)));

const root = ownFolder('model-cards');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(root, 'cards-'));
});

const write = (file: string, content: unknown) =>
  writeFileSync(
    join(folder, file),
    typeof content === 'string' ? content : JSON.stringify(content),
  );

/** The cards of the folder where a model pins each of these hashes, and what was logged. */
function read(...hashes: (string | null)[]) {
  const lines: string[] = [];
  const into = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const logger = createLogger({ name: 'test', level: 'warn', into });
  const models = hashes.map((card_hash) => ({ card_hash }));
  return { cards: readModelCards({ folder, models, logger }), lines };
}

describe('the folder of model cards', () => {
  it('has each card by its hash, in any form of JSON', () => {
    write('one.json', JSON.stringify(card('1'), undefined, 4));
    write('two.json', card('2'));
    write('notes.txt', 'no card');
    const { cards, lines } = read(hashOf('1'), hashOf('2'));
    expect([...cards.keys()].sort()).toEqual([hashOf('1'), hashOf('2')].sort());
    expect(cards.get(hashOf('1'))).toEqual(card('1'));
    expect(lines).toEqual([]);
  });

  it('logs a card that no model pins, by file and hash', () => {
    write('one.json', card('1'));
    const { cards, lines } = read(null, hashOf('2'));
    expect(cards.size).toBe(1);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { msg: 'No model pins this card', file: 'one.json', card_hash: hashOf('1') },
    ]);
  });

  it.each([
    ['what is no JSON', '{', 'it is no JSON'],
    ['a card with a field more', { ...card('1'), more: 1 }, 'more'],
    ['a card without canonical form', { ...card('1'), source: '\ud800' }, 'half of a character'],
  ])('refuses %s at the start, and names the file', (_what, content, reason) => {
    write('wrong.json', content);
    expect(() => read()).toThrow(ConfigError);
    expect(() => read()).toThrow(/wrong\.json is no card: /);
    expect(() => read()).toThrow(reason);
  });
});
