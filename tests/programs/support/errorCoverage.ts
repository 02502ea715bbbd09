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
  gateway_update: { InvariantViolated: 'the list of signers is overwritten within its bounds' },
  credit_open: { ArithmeticOverflow: RENT, InvariantViolated: FRESH, WrongDiscriminator: FRESH },
  worker_register: { ArithmeticOverflow: RENT, InvariantViolated: FRESH },
  job_settle: { WrongTokenAccount: LOOKED_AT, WrongMint: LOOKED_AT },
  job_complete: {
    WrongTokenAccount: LOOKED_AT,
    WrongMint: LOOKED_AT,
    OutputMismatch: 'one argument is both the proven and the delivered hash',
  },
  claim_pay: { WrongTokenAccount: LOOKED_AT, WrongMint: LOOKED_AT },
};

/**
 * The instructions that take no two accounts of one kind. An account's kind is checked before it is
 * lent, so that another account in a second role is of the wrong kind there.
 */
const OF_DISTINCT_KINDS = new Set(
  (
    'config_update authority_propose authority_accept pause_set gateway_vouch ' +
    'model_upsert model_retire credit_open spender_set limit_set worker_host ' +
    'worker_unhost worker_suspend worker_deregister stake_unlock slash_burn job_lock ' +
    'job_acknowledge job_prove job_settle job_complete job_fail job_refund job_dispute ' +
    'dispute_resolve dispute_expire job_close claim_pay'
  ).split(' '),
);

export const isUnreachable = (instruction: string, error: string): boolean =>
  UNREACHABLE[instruction]?.[error] !== undefined ||
  (error === 'DuplicateAccount' && OF_DISTINCT_KINDS.has(instruction));
