import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { Response } from 'express';
import { ApiError, ClientLeftError } from '../../api/contracts/errors.ts';
import { renderError } from '../../api/http/middleware/renderError.ts';
import { createLogger } from '../../common/logger.ts';

/** What the log says of an error whose client has left. */
function logOf(error: Error): unknown[] {
  const lines: unknown[] = [];
  const into = new Writable({
    write(line, _encoding, done) {
      lines.push(JSON.parse(String(line)));
      done();
    },
  });
  const logger = createLogger({ name: 'test', level: 'info', into });
  const response = { headersSent: true, locals: {}, destroy: () => undefined };
  const render = renderError({ logger, publicUrl: 'https://api.example.com' });
  render(error, undefined as never, response as unknown as Response, () => undefined);
  return lines;
}

describe('an error that no client receives', () => {
  it('is logged when it is internal', () => {
    expect(logOf(new ApiError('internal_error', 'broken'))).toMatchObject([
      { msg: 'Answered with a server error', code: 'internal_error' },
    ]);
  });

  it('is not logged when the client only disconnected', () => {
    expect(logOf(new ClientLeftError())).toEqual([]);
  });
});
