import { type ChatCompletionRequest, chatCompletionRequest } from '../contracts/chatCompletion.ts';
import { createDraw } from './draw.ts';
import { drawExercise, type Exercise, KINDS } from './exercises.ts';

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
