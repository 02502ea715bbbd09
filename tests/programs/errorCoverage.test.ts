import { describe, expect, it } from '@jest/globals';
import { EscrowErrorCode } from '../../programs/client/index.ts';
import { isUnreachable, namesIn, UNREACHABLE } from './support/errorCoverage.ts';
import { ownErrors, type ReturnableErrors, returnableErrors } from './support/returnableErrors.ts';

const returnable = [...returnableErrors()];
const allErrors = ({ declared, loading, handler }: ReturnableErrors): string[] => [
  ...declared,
  ...loading,
  ...handler,
];
/** Refused by the dispatch, before any instruction is chosen: see accounts.test.ts. */
const OF_DISPATCH = ['EventAuthorityRequired', 'UnknownInstruction'];

// accounts.test.ts and invariants.test.ts hold themselves to the other errors in the same way.
describe('the tests of an instruction', () => {
  it.each(returnable)('%s: name every error that its handler can return', (name, errors) => {
    const tested = namesIn(name);
    const missing = ownErrors(errors).filter(
      (error) => !tested.has(error) && !isUnreachable(name, error),
    );
    expect(missing).toEqual([]);
  });
});

describe('the errors read from the Rust source', () => {
  it('are all errors of the program', () => {
    const found = new Set(returnable.flatMap(([, errors]) => allErrors(errors)));
    expect([...found, ...OF_DISPATCH].sort()).toEqual(Object.keys(EscrowErrorCode).sort());
  });

  it('include every error that is listed as unreachable', () => {
    const known = new Map(returnable.map(([name, errors]) => [name, allErrors(errors)]));
    const stale = Object.entries(UNREACHABLE).flatMap(([name, reasons]) =>
      Object.keys(reasons).filter((error) => !known.get(name)?.includes(error)),
    );
    expect(stale).toEqual([]);
  });
});
