import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { classify, FatalError, RetryableError } from '../../indexer/source/errors.ts';

function databaseError(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError('of the database', 0, 'error');
  error.code = code;
  return error;
}

describe('a database error', () => {
  it.each([
    ['a lost connection', '08006'],
    ['a database that only reads', '25006'],
    ['a deadlock', '40P01'],
    ['a full disk', '53100'],
    ['a shutdown', '57P01'],
    ['a failing disk', '58030'],
    ['a system that fails otherwise', '58000'],
  ])('is retried after %s', (_name, code) => {
    expect(classify(databaseError(code))).toBeInstanceOf(RetryableError);
  });

  it.each([
    ['a missing table', '42P01'],
    ['a broken constraint', '23505'],
    ['a statement after one that failed', '25P02'],
  ])('is fatal after %s', (_name, code) => {
    expect(classify(databaseError(code))).toBeInstanceOf(FatalError);
  });
});
