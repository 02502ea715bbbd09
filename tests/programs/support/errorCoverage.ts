import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { camelCase } from '../../../programs/client/codec.ts';

const FRESH = 'it has just been written by the handler itself';
const RENT = 'only a Rent of over 4,294,967,295 lamports a byte and year would overflow';
const LOOKED_AT = 'the handler looks whether the account is usable and never passes the reason on';

/**
 * Errors that the Rust source names but no caller can provoke, with the reason. They are the
 * program's second line of defence.
 */
export const UNREACHABLE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  config_initialize: {
    ArithmeticOverflow: RENT,
    InvariantViolated: FRESH,
    WrongDiscriminator: FRESH,
    WrongLoader: 'no third loader runs the program',
  },
  gateway_open: { ArithmeticOverflow: RENT, InvariantViolated: FRESH, WrongDiscriminator: FRESH },
  gateway_update: { InvariantViolated: 'the list of signers is written anew, within its bounds' },
  credit_open: { ArithmeticOverflow: RENT, InvariantViolated: FRESH, WrongDiscriminator: FRESH },
  worker_register: { ArithmeticOverflow: RENT, InvariantViolated: FRESH },
  job_settle: { WrongTokenAccount: LOOKED_AT, WrongMint: LOOKED_AT },
  claim_pay: { WrongTokenAccount: LOOKED_AT, WrongMint: LOOKED_AT },
};

export const isUnreachable = (instruction: string, error: string): boolean =>
  UNREACHABLE[instruction]?.[error] !== undefined;

/** The quoted names in an instruction's own tests, its errors among them. */
export function namesIn(instruction: string): Set<string> {
  const path = join(import.meta.dirname, '..', `${camelCase(instruction)}.test.ts`);
  const quoted = readFileSync(path, 'utf8').matchAll(/'([A-Z][A-Za-z0-9]+)'/g);
  return new Set([...quoted].map(([, name = '']) => name));
}
