import type {
  AccountInterface,
  FieldType,
  InstructionInterface,
  Interface,
} from '../client/interface.ts';

/** @throws Error when no item has the name */
export const find = <T extends { name: string }>(items: readonly T[], name: string): T => {
  const found = items.find((item) => item.name === name);
  if (found === undefined) throw new Error(`the interface has no "${name}"`);
  return found;
};

/**
 * Reads an instruction's documentation: a summary, paragraphs, at last ``Emits `Event`.``, and
 * under `# Errors` a list of ``- `Error`: when``, in the order of the checks. An event may be one
 * ``which readers take for`` others: its steps.
 *
 * @throws Error when the event or an error is none of the program's
 */
export const readDocumentation = (idl: Interface, { docs = [] }: InstructionInterface) => {
  const [prose = '', list = ''] = docs.join('\n').split('\n# Errors\n');
  const paragraphs = prose.trim().split('\n\n');
  const [summary = '', ...rules] = paragraphs.map((text) => text.replaceAll('\n', ' '));
  const emits = rules.pop() ?? '';
  const eventsIn = (text: string) =>
    [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => find(idl.events, name).name);
  const [emitted = '', taken = ''] = emits.split(', which readers take for ');
  const events = emits.startsWith('Emits ') ? eventsIn(emitted) : [];
  if (events.length === 0) throw new Error(`no event is named in "${emits}"`);
  const steps = eventsIn(taken);
  const items = list.split(/^- /m).slice(1);
  const errors = items.map((item) => {
    const [, name = item, when = ''] = /^`(\w+)`(?:: (.+))?$/s.exec(item.trim()) ?? [];
    const error = find(idl.errors, name);
    return { ...error, when: when.replaceAll('\n', ' ') || error.msg };
  });
  return { summary, rules, emits, events, steps, errors };
};

export const typeText = (type: FieldType): string => {
  if (typeof type === 'string') return type;
  if ('defined' in type) return type.defined.name;
  if ('vec' in type) return `Vec<${typeText(type.vec)}>`;
  return `[${typeText(type.array[0])}; ${type.array[1]}]`;
};

/** The seeds of an address in words; text in quotes. */
export const seedsText = ({ pda }: AccountInterface): string =>
  (pda?.seeds ?? [])
    .map((seed) => (seed.kind === 'const' ? `"${Buffer.from(seed.value)}"` : seed.path))
    .join(', ');

const UNITS: [RegExp, string][] = [
  [/_seconds$/, 'seconds'],
  [/(?:^|_)unix_time$|_at$/, 'seconds since 1970'],
  [/_basis_points$/, 'hundredths of a percent'],
  [/_lamports$/, 'lamports'],
  [/base_units$/, 'base units of the credit mint'],
  [/^slash_tokens$|^tokens$|stake_tokens$|^(?:unstaking|slashed)_tokens$/, 'whole stake tokens'],
  [/(?:^|_)credits(?:_max|_per_\w+)?$|^limit_per_\w+_credits$/, 'credits'],
  [/(?:^|_)tokens$|^token_limit$/, 'tokens of text'],
  [/_hash$/, 'sha256'],
  [/^spent_day$/, 'days since 1970'],
];

/** The unit that a name ends with. */
export const unitOf = (name: string): string =>
  UNITS.find(([pattern]) => pattern.test(name))?.[1] ?? '';
