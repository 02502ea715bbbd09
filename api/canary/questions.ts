import { createRandom } from '../../common/seededRandom.ts';
import {
  type ChatCompletionRequest,
  chatCompletionRequest,
} from '../http/contracts/chatCompletion.ts';

/** Draws that follow from a seed alone. */
interface Draw {
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  oneOf<Item>(items: readonly [Item, ...Item[]]): Item;
  /** `count` different items, in an order of their own. */
  several<Item>(items: readonly Item[], count: number): Item[];
}

function createDraw(seed: number): Draw {
  const { below } = createRandom(String(seed));
  return {
    between: (least, most) => least + below(most - least + 1),
    oneOf: (items) => items[below(items.length)] ?? items[0],
    several(items, count) {
      const left = [...items];
      return Array.from({ length: count }, () => left.splice(below(left.length), 1)).flat();
    },
  };
}

const TENS = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const ONES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** English, from 20 to 99. */
export function numberInWords(number: number): string {
  const tens = TENS[Math.floor(number / 10) - 2];
  const ones = ONES[(number % 10) - 1];
  return ones === undefined ? `${tens}` : `${tens}-${ones}`;
}

/** A task that has one right answer. */
interface Exercise {
  task: string;
  /** The answer: lower-case words in their order, or one number. */
  expected: readonly string[];
}

const WORDS = [
  ...['apple', 'river', 'stone', 'lamp', 'garden', 'window', 'paper', 'bread', 'cloud', 'horse'],
  ...['music', 'table', 'winter', 'ocean', 'pencil', 'forest', 'silver', 'coffee', 'bridge'],
  ...['candle', 'market', 'yellow', 'summer', 'ladder', 'orange', 'rabbit', 'mirror', 'button'],
];
const WORDS_REVERSED = 3;

/** How many kinds of exercise there are. */
const KINDS = 4;

/**
 * Easy for the smallest models. Whatever answers by repeating the task fails each of them, which is
 * why none asks to choose among things that it names.
 */
function drawExercise(draw: Draw, turn: number): Exercise {
  switch (turn % KINDS) {
    case 0:
      return add(draw);
    case 1:
      return subtract(draw);
    case 2:
      return readNumber(draw);
    default:
      return reverse(draw);
  }
}

function add({ between, oneOf }: Draw): Exercise {
  const one = between(11, 59);
  const other = between(11, 39);
  return {
    task: oneOf([
      `What is ${one} + ${other}?`,
      `How much is ${one} plus ${other}?`,
      `Please add ${one} and ${other}.`,
      `I had ${one} marbles and was given ${other} more. How many are that now?`,
      `A shop sold ${one} tickets on Monday and ${other} on Tuesday. How many in total?`,
    ]),
    expected: [String(one + other)],
  };
}

function subtract({ between, oneOf }: Draw): Exercise {
  const taken = between(11, 40);
  const drawn = between(11, 50);
  // Twice the same would have the answer stand in the task.
  const left = drawn === taken ? drawn + 1 : drawn;
  const whole = taken + left;
  return {
    task: oneOf([
      `What is ${whole} - ${taken}?`,
      `How much is ${whole} minus ${taken}?`,
      `Please subtract ${taken} from ${whole}.`,
      `A hall has ${whole} seats and ${taken} of them are taken. How many are free?`,
      `Of ${whole} pages I have read ${taken}. How many are left?`,
    ]),
    expected: [String(left)],
  };
}

function readNumber({ between, oneOf }: Draw): Exercise {
  const number = between(21, 99);
  const words = numberInWords(number);
  return {
    task: oneOf([
      `Write ${words} in digits.`,
      `What is the number ${words}, written in digits?`,
      `Convert "${words}" to digits.`,
      `How is ${words} written with numerals?`,
    ]),
    expected: [String(number)],
  };
}

function reverse({ several, oneOf }: Draw): Exercise {
  const words = several(WORDS, WORDS_REVERSED);
  const list = words.join(', ');
  return {
    task: oneOf([
      `Reverse the order of these words: ${list}.`,
      `Write these words in reverse order: ${list}.`,
      `List the following from last to first: ${list}.`,
      `Here are three words: ${list}. Repeat them backwards, the last word first.`,
    ]),
    expected: words.toReversed(),
  };
}

/** A request like any other whose right answer is known. */
export interface CanaryQuestion extends Pick<Exercise, 'expected'> {
  request: ChatCompletionRequest;
}

const OPENINGS = ['', '', '', 'Hi! ', 'Hello, ', 'Quick question: ', 'Can you help me? '] as const;
const ENDINGS = ['', '', ' Thanks!', ' Answer briefly.', ' Only the answer, please.'] as const;
const TOKEN_LIMITS = [48, 64, 96, 128] as const;
const REQUEST_SEED_MAX = 2 ** 31 - 1;

/** The same seed draws the same questions; of more, the first ones stay what they were. */
export function drawQuestions(options: {
  seed: number;
  count: number;
  modelId: string;
}): CanaryQuestion[] {
  const { seed, count, modelId } = options;
  const draw = createDraw(seed);
  // In turns, so that no seed asks for one ability only.
  const first = draw.between(0, KINDS - 1);
  return Array.from({ length: count }, (_, index) => {
    const { task, expected } = drawExercise(draw, first + index);
    const content = `${draw.oneOf(OPENINGS)}${task}${draw.oneOf(ENDINGS)}`;
    const request = chatCompletionRequest.parse({
      model: modelId,
      messages: [{ role: 'user', content }],
      max_tokens: draw.oneOf(TOKEN_LIMITS),
      temperature: 0,
      seed: draw.between(1, REQUEST_SEED_MAX),
    });
    return { request, expected };
  });
}

/** Whether the text has what is expected as whole words or a whole number, whatever is around it. */
export function isRight({ expected }: Pick<CanaryQuestion, 'expected'>, text: string): boolean {
  // A list may have its words numbered, and an "and" before its last.
  const words = expected.join('\\P{L}+(?:and\\P{L}+)?');
  const before = '(?<![\\p{L}\\p{N}]|\\p{N}[.,])';
  const after = '(?![\\p{L}\\p{N}]|[.,]\\p{N})';
  return new RegExp(`${before}${words}${after}`, 'iu').test(text);
}
