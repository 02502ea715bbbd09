import { type Check, conclude } from './check.ts';

/** What all checks of a job come to, in words for people. */
export interface Conclusion {
  /** `differs`: nothing contradicts a rule, but what the client gave is not what the ledger records. */
  readonly result: ReturnType<typeof conclude> | 'differs';
  /** Such as `The job holds`, and each thing that differs in a sentence. */
  readonly title: string;
  readonly sentence: string;
}

const TITLES = {
  holds: 'The job holds',
  fails: 'The job fails',
  not_checkable: 'Not everything could be checked',
} as const;

/** What all checks of a job, or of the program, come to. */
export const SENTENCES = {
  holds: 'Everything that applies holds.',
  fails: 'The ledger contradicts what should hold.',
  not_checkable: 'There is no contradiction, but evidence is missing: this proves nothing.',
} as const;

/** Checks of what the client gave. The job itself may hold where one of them fails. */
const GIVEN: Readonly<Record<string, string>> = {
  'delivery.output': 'Your text is not the proven one.',
  'delivery.request': 'Your question is not the proven one.',
  'delivery.receipt': 'Your receipt does not fit it.',
  'delivery.answer': 'Your answer says something else of it.',
  'model.card': 'Your card is not the pinned one.',
};

/** The conclusion for people, alike in the command and the page: a text that differs fails no job. */
export function conclusionOf(checks: readonly Check[]): Conclusion {
  const ofJob = conclude(checks.filter(({ name }) => !(name in GIVEN)));
  const differing = checks.filter(({ name, verdict }) => name in GIVEN && verdict === 'fails');
  const isOfJob = ofJob === 'fails' || differing.length === 0;
  const result = isOfJob ? conclude(checks) : ofJob;
  const title = TITLES[result];
  const sentence = SENTENCES[result];
  if (isOfJob) return { result, title, sentence };
  const reasons = differing.map(({ detail }) => detail.charAt(0).toUpperCase() + detail.slice(1));
  return {
    result: 'differs',
    title: [`${title}.`, ...differing.map(({ name }) => GIVEN[name])].join(' '),
    sentence: [ofJob === 'holds' ? KEPT : sentence, ...reasons].join(' '),
  };
}

const KEPT = 'The node shows nothing that contradicts a rule.';
