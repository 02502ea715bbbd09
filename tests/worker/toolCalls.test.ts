import { describe, expect, it } from '@jest/globals';
import { createRandom, type Random } from '../../common/seededRandom.ts';
import type { ToolCall } from '../../programs/client/statement.ts';
import { createCallReader } from '../../worker/engine/toolCalls.ts';
import type { RawCalls } from '../../worker/engine/upstreamChunk.ts';

const NAMES = ['omega', 'sigma', 'tau'];
const STREAMS = 3_000;

/** A call as a model means it; its server may keep the id to itself. */
interface Meant {
  id: string;
  name: string;
  text: string;
}

const pick = <T>(random: Random, values: readonly T[]): T =>
  values[random.below(values.length)] as T;

function drawArguments(random: Random): string {
  const value = (depth: number): unknown =>
    pick(random, [
      () => random.below(1_000),
      () => pick(random, ['', '}', '{"', '🤔 "tide"', '\\', 'a\nb']),
      () => [value(depth + 1)],
      () => (depth > 2 ? null : { [pick(random, ['a', '}', 'ü'])]: value(depth + 1) }),
    ])();
  return JSON.stringify({ n: value(0) }, null, pick(random, [0, 1]));
}

/** How a server writes its calls down. What could mean two things is left out. */
function drawStyle(random: Random) {
  const index = pick(random, ['right', 'from one', 'all zero', 'none'] as const);
  const isRight = index === 'right' || index === 'from one';
  return {
    index,
    id: pick(random, isRight ? (['once', 'again', 'none'] as const) : (['once', 'again'] as const)),
    name: pick(random, ['once', 'again', 'null'] as const),
    arguments: pick(random, ['whole', 'pieces', 'object'] as const),
    message: pick(random, ['none', 'again', 'alone'] as const),
    isMixed: isRight && random.below(2) === 0,
    isPlainText: isRight && random.below(8) === 0,
  };
}

type Style = ReturnType<typeof drawStyle>;

function drawCalls(random: Random, { isPlainText }: Style): Meant[] {
  return Array.from({ length: 1 + random.below(4) }, (_, at) => ({
    id: `id_${at}`,
    name: pick(random, NAMES),
    text: isPlainText ? pick(random, ['', 'n = 1', '{"n":', 'null']) : drawArguments(random),
  }));
}

/** The deltas of one call, of which the first begins it. */
function deltasOf(random: Random, { id, name, text }: Meant, at: number, style: Style): object[] {
  const size = 1 + random.below(9);
  const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, piece) =>
    text.slice(piece * size, (piece + 1) * size),
  );
  const isObject = style.arguments === 'object' && !style.isPlainText;
  const isWhole = style.arguments === 'whole' || pieces.length === 0;
  const sent: unknown[] = isObject ? [JSON.parse(text)] : isWhole ? [text] : pieces;
  if (random.below(2) === 0) sent.unshift(pick(random, ['', null]));
  const numbers = { right: at, 'from one': at + 1, 'all zero': 0, none: undefined };
  const again = (how: string, value: string) =>
    how === 'again' ? value : pick(random, ['', null, undefined]);
  return sent.map((piece, position) => ({
    index: numbers[style.index],
    id: position === 0 && style.id !== 'none' ? id : again(style.id, id),
    type: 'function',
    function: {
      name: position === 0 ? name : again(style.name, name),
      arguments: piece,
    },
  }));
}

/** The chunks of an answer with these calls. */
function drawChunks(random: Random, calls: readonly Meant[], style: Style): RawCalls[] {
  const queues = calls.map((call, at) => deltasOf(random, call, at, style));
  const order = queues.flatMap((queue) => queue.splice(0, 1));
  const deltas = style.isMixed ? order : [];
  while (style.isMixed && queues.some(({ length }) => length > 0)) {
    deltas.push(
      ...pick(
        random,
        queues.filter(({ length }) => length > 0),
      ).splice(0, 1),
    );
  }
  if (!style.isMixed) deltas.push(...order.flatMap((first, at) => [first, ...(queues[at] ?? [])]));
  const chunks: RawCalls[] = [];
  while (deltas.length > 0) {
    chunks.push({ entries: deltas.splice(0, 1 + random.below(3)), isWhole: false });
  }
  const message = {
    entries: calls.map(({ id, name, text }) => ({
      ...(style.id !== 'none' && { id }),
      type: 'function',
      function: {
        name,
        arguments: style.arguments === 'object' && !style.isPlainText ? JSON.parse(text) : text,
      },
    })),
    isWhole: true,
  };
  return { none: chunks, again: [...chunks, message], alone: [message] }[style.message];
}

/** What a client reads, and what breaks the rules of the worker's deltas. */
function read(chunks: readonly RawCalls[], fields: object = {}) {
  const tools = NAMES.map((name) => ({ type: 'function' as const, function: { name } }));
  const reader = createCallReader({ model: 'm', messages: [], tools, ...fields });
  const calls: ToolCall[] = [];
  const faults: string[] = [];
  for (const chunk of chunks) {
    for (const { index, id, name, text } of reader.read(chunk)) {
      const call = calls[index];
      if (call ? id !== undefined || name !== undefined : !id || !name) faults.push('id and name');
      if (!call && index !== calls.length) faults.push(`index ${index}`);
      if (call && text === '') faults.push('an empty piece');
      const before = call ?? { id: id ?? '', name: name ?? '', arguments: '' };
      calls[index] = { ...before, arguments: before.arguments + text };
    }
  }
  reader.end();
  return { calls, faults, ids: new Set(calls.map(({ id }) => id)).size };
}

describe('calls of a server', () => {
  it(`come out as they were meant, in ${STREAMS} drawn streams`, () => {
    for (let seed = 0; seed < STREAMS; seed += 1) {
      const random = createRandom(`calls ${seed}`);
      const style = drawStyle(random);
      const meant = drawCalls(random, style);
      const asText = (text: string) =>
        style.arguments === 'object' && !style.isPlainText
          ? JSON.stringify(JSON.parse(text))
          : text;
      const found = read(drawChunks(random, meant, style));
      expect({ seed, style, ...found }).toEqual({
        ...{ seed, style, faults: [], ids: meant.length },
        calls: meant.map(({ id, name, text }) => ({
          id: style.id === 'none' ? expect.stringMatching(/^call_[A-Za-z0-9]{24}$/) : id,
          name,
          arguments: asText(text),
        })),
      });
    }
  });

  const part = (fields: object, name: string, text: string) => ({
    ...fields,
    function: { name, arguments: text },
  });
  const delta = (...entries: object[]): RawCalls => ({ entries, isWhole: false });

  it.each<[string, RawCalls[], string[]]>([
    [
      'of the same tool, without any id or number',
      [delta(part({}, 'tau', '{"n":1}')), delta(part({}, 'tau', '{"n":1}'))],
      ['tau {"n":1}', 'tau {"n":1}'],
    ],
    [
      'of two tools, without any id and without JSON',
      [delta(part({ index: 0 }, 'tau', 'n = 1')), delta(part({ index: 0 }, 'omega', 'n'))],
      ['tau n = 1', 'omega n'],
    ],
    [
      'with the same id',
      [
        delta(part({ index: 0, id: '0' }, 'tau', ''), part({ index: 0, id: '0' }, '', '{}')),
        delta(part({ index: 1, id: '0' }, 'omega', ''), part({ index: 1, id: '0' }, '', '{}')),
      ],
      ['tau {}', 'omega {}'],
    ],
    [
      'whose name comes late',
      [delta(part({ index: 0, id: 'a' }, '', '{')), delta(part({ index: 0 }, 'tau', '}'))],
      ['tau {}'],
    ],
    [
      'whose last message has other blanks',
      [
        delta(part({ id: 'a' }, 'tau', '{"n": 1}')),
        { entries: [part({ id: 'a' }, 'tau', '{"n":1}')], isWhole: true },
      ],
      ['tau {"n": 1}'],
    ],
    [
      'in messages of which each has one',
      ['{"n":1}', '{"n":2}'].map((text) => ({ entries: [part({}, 'tau', text)], isWhole: true })),
      ['tau {"n":1}', 'tau {"n":2}'],
    ],
  ])('come out %s', (_how, chunks, expected) => {
    const { calls, faults, ids } = read(chunks);
    expect(calls.map((call) => `${call.name} ${call.arguments}`)).toEqual(expected);
    expect({ faults, ids }).toEqual({ faults: [], ids: expected.length });
  });

  it('end after the first where they may not be parallel', () => {
    const chunks = [
      delta(part({ index: 0 }, 'tau', '{"n":'), part({ index: 1 }, 'omega', '{')),
      delta(part({ index: 1 }, '', '}'), part({ index: 0 }, '', '1}')),
    ];
    const { calls } = read(chunks, { parallel_tool_calls: false });
    expect(calls).toMatchObject([{ name: 'tau', arguments: '{"n":1}' }]);
  });

  it.each([{ tools: [] }, { tools: undefined }, { tool_choice: 'none' }])(
    'are left out where none may come: %j',
    (fields) => {
      expect(read([delta(part({}, 'tau', '{}'))], fields).calls).toEqual([]);
    },
  );
});
