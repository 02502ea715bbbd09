import { expect, it } from '@jest/globals';
import pg from 'pg';
import { classify, FatalError, RetryableError } from '../../indexer/source/errors.ts';

it.each([
  ['a lost connection', '08006', RetryableError],
  ['a database that only reads', '25006', RetryableError],
  ['a deadlock', '40P01', RetryableError],
  ['a full disk', '53100', RetryableError],
  ['a shutdown', '57P01', RetryableError],
  ['a failing disk', '58030', RetryableError],
  ['a missing table', '42P01', FatalError],
  ['a broken constraint', '23505', FatalError],
  ['a statement after one that failed', '25P02', FatalError],
])('a retry may mend or cannot mend %s (%s)', (_name, code, kind) => {
  const error = Object.assign(new pg.DatabaseError('of the database', 0, 'error'), { code });
  expect(classify(error)).toBeInstanceOf(kind);
});
