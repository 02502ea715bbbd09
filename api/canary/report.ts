import { type CanaryQuestion, isRight } from './questions.ts';
import type { Trial } from './tryWorker.ts';

/** How one worker did. */
export interface WorkerReport {
  worker: string;
  jobs_asked: number;
  jobs_proven: number;
  /** For want of a place; they count for nothing. */
  jobs_refused: number;
  answers_right: number;
  /** Answers that as many workers gave to the same question as any other; null for one worker. */
  answers_common: number | null;
  tokens_claimed: number;
  tokens_counted: number;
  first_token_p50_ms: number | null;
  credits_charged: bigint;
  /** Why it is not good enough; empty when it is. */
  faults: string[];
}

/** @param options.trials of each worker, in the order of the questions */
export function reportWorkers(options: {
  questions: readonly CanaryQuestion[];
  trials: ReadonlyMap<string, readonly Trial[]>;
  rightMin: number;
}): WorkerReport[] {
  const { questions, trials, rightMin } = options;
  const common = questions.map((_, index) =>
    mostFrequent([...trials.values()].map((own) => answerOf(own[index]))),
  );
  return [...trials].map(([worker, own]) => {
    const answers = questions.map((_, index) => answerOf(own[index]));
    const proven = own.filter((trial) => trial.kind === 'proven');
    const refused = own.filter(({ kind }) => kind === 'full').length;
    const heard = own.length - refused;
    const right = questions.filter((question, index) => isRight(question, answers[index] ?? ''));
    const asMost = answers.filter((answer, index) => common[index]?.has(answer));
    const firstTokens = own.flatMap(({ firstTokenMs }) => firstTokenMs ?? []);
    return {
      worker,
      jobs_asked: own.length,
      jobs_proven: proven.length,
      jobs_refused: refused,
      answers_right: right.length,
      answers_common: trials.size > 1 ? asMost.length : null,
      tokens_claimed: proven.reduce((sum, { claimedTokens }) => sum + claimedTokens, 0),
      tokens_counted: proven.reduce((sum, { countedTokens }) => sum + countedTokens, 0),
      first_token_p50_ms: median(firstTokens),
      credits_charged: proven.reduce((sum, { chargedCredits }) => sum + chargedCredits, 0n),
      faults: [
        ...unprovenFaults(own),
        // Divided, which rounds as the reading of 0.28 did: the product 0.28 × 25 is above 7. Where
        // none was heard, 0 / 0 is below no share.
        ...(right.length / heard < rightMin
          ? [`right in ${right.length} of ${heard}, less than ${rightMin}`]
          : []),
      ],
    };
  });
}

function unprovenFaults(trials: readonly Trial[]): string[] {
  const counts = new Map<string, number>();
  for (const trial of trials) {
    if (trial.kind === 'unproven') counts.set(trial.fault, (counts.get(trial.fault) ?? 0) + 1);
  }
  return [...counts].map(([fault, count]) => `${count} of ${trials.length} not proven: ${fault}`);
}

function answerOf(trial: Trial | undefined): string | undefined {
  return trial?.kind === 'proven' ? trial.text.trim() : undefined;
}

/** The answers that no other was given more often than; of answers given once there is none. */
function mostFrequent(answers: readonly (string | undefined)[]): Set<string | undefined> {
  const counts = new Map<string, number>();
  for (const answer of answers) {
    if (answer !== undefined) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  }
  const most = Math.max(2, ...counts.values());
  return new Set([...counts].filter(([, count]) => count === most).map(([answer]) => answer));
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted[Math.ceil(sorted.length / 2) - 1];
  return middle === undefined ? null : Math.round(middle);
}
