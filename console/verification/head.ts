import { type Check, conclude } from '@svc-inference/client/verify';

type Head = readonly [tone: 'ok' | 'warn' | 'bad', title: string, sentence: string];

const SENTENCES = {
  holds: [
    'ok',
    'The job holds',
    'Everything that applies to it was checked, and nothing contradicts it.',
  ],
  fails: ['bad', 'The job fails', 'What the node shows contradicts at least one rule.'],
  not_checkable: [
    'warn',
    'Not everything could be checked',
    'Evidence is missing; nothing else contradicts it.',
  ],
} as const satisfies Record<ReturnType<typeof conclude>, Head>;

/** Checks of the client's own text and receipt. The job itself may hold where one of them fails. */
const GIVEN = [
  ['delivery.output', 'Your text is not the proven one.'],
  ['delivery.receipt', 'Your receipt does not fit it.'],
] as const;

const KEPT = 'The node shows nothing that contradicts a rule. What you gave to compare differs.';

/** The result in a title and a sentence. A given text that differs does not make the job fail. */
export function headOf(checks: readonly Check[]): Head {
  const ofJob = conclude(checks.filter(({ name }) => !GIVEN.some(([given]) => given === name)));
  const [, title, sentence] = SENTENCES[ofJob];
  const differing = GIVEN.find(([given]) =>
    checks.some(({ name, verdict }) => name === given && verdict === 'fails'),
  );
  if (ofJob === 'fails' || differing === undefined) return SENTENCES[conclude(checks)];
  return ['bad', `${title}. ${differing[1]}`, ofJob === 'holds' ? KEPT : sentence];
}
