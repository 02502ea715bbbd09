import type { Step } from './steps.ts';

/** What the reading of one instruction's file has to say, for its page. */
export interface Reading {
  steps: Step[];
  /** Roles of `accounts!` in their order, as the source spells them */
  roles: string[];
  hasText: boolean;
}

/** What a role refuses an account with; see roles.rs. */
const ROLE_ERRORS: Record<string, string[]> = {
  Readonly: [],
  Writable: ['NotWritable'],
  Signer: ['MissingSigner'],
  WritableSigner: ['MissingSigner', 'NotWritable'],
  Optional: [],
  VaultAuthority: ['WrongAddress'],
  EventAuthority: ['WrongAddress'],
  EscrowProgram: ['WrongAddress'],
  SystemProgram: ['WrongAddress'],
  TokenProgram: ['WrongTokenProgram'],
  InstructionsSysvar: ['WrongAddress'],
};

/** What an account that is read as one of the program's kinds is refused with; see layout.rs. */
const LOAD_ERRORS = ['WrongAccountOwner', 'WrongDiscriminator'];
/** Kinds that have one account, whose address is checked too. */
const SINGLE = ['Config', 'Treasury'];

/** What a step can refuse with. */
export const stepErrors = (reading: Reading, step: Step): string[] => {
  switch (step.kind) {
    case 'arguments':
      return ['InvalidInstructionData', ...(reading.hasText ? ['InvalidText'] : [])];
    case 'accounts':
      return [
        'MissingAccount',
        ...new Set(reading.roles.flatMap((role) => ROLE_ERRORS[role] ?? [])),
      ];
    case 'require':
      return [step.error];
    case 'load':
      return SINGLE.includes(step.type) ? [...LOAD_ERRORS, 'WrongAddress'] : LOAD_ERRORS;
    case 'overflow':
      return ['ArithmeticOverflow'];
    case 'invariant':
      return ['InvariantViolated'];
    default:
      return [];
  }
};

/** The names of every error that an instruction can return. */
export const errorsOf = (reading: Reading): Set<string> =>
  new Set(reading.steps.flatMap((step) => stepErrors(reading, step)));
