import type { Draw } from './draw.ts';
import { numberInWords } from './numberInWords.ts';

/** A task that has one right answer. */
export interface Exercise {
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
export const KINDS = 4;

/**
 * Easy for the smallest models. Whatever answers by repeating the task fails each of them, which is
 * why none asks to choose among things that it names.
 */
export function drawExercise(draw: Draw, turn: number): Exercise {
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
