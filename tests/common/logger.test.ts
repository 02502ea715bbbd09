import { describe, expect, it } from '@jest/globals';
import { createLogger } from '../../common/logger.ts';

function createLog() {
  const lines: Record<string, unknown>[] = [];
  const into = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { lines, logger: createLogger({ name: 'test', level: 'info', into }) };
}

describe('a log line', () => {
  it('contains an error with its stack and causes', () => {
    const { lines, logger } = createLog();
    logger.warn({ msg: 'Failed', err: new TypeError('outer', { cause: new Error('inner') }) });

    expect(lines).toMatchObject([
      { level: 40, msg: 'Failed', err: { type: 'TypeError', message: 'outer: inner' } },
    ]);
    expect(JSON.stringify(lines)).toContain('logger.test');
  });

  it.each([
    ['frozen', Object.freeze(new RangeError('frozen')), { type: 'RangeError', message: 'frozen' }],
    ['no error', 'text', undefined],
    ['nothing', undefined, undefined],
  ])('is written for any thrown value: %s', (_case, err, written) => {
    const { lines, logger } = createLog();
    logger.error({ msg: 'Failed', err });
    expect(lines).toMatchObject([{ msg: 'Failed', ...(written && { err: written }) }]);
  });

  it.each(['authorization', 'api_key', 'secret', 'prompt', 'messages', 'content', 'text'])(
    'never contains a %s that was passed by mistake',
    (field) => {
      const { lines, logger } = createLog();
      const fields = { [field]: 'private', kept: 'seen' };
      const err = Object.assign(new Error('failed'), { ...fields, response: fields });
      logger.info({ ...fields, deep: { ...fields, deeper: fields, listed: [fields] } });
      logger.warn({ msg: 'Failed', err, deep: { cause: err } });

      expect(JSON.stringify(lines)).not.toContain('private');
      expect(JSON.stringify(lines).split('seen')).toHaveLength(1 + 4 + 2 + 2);
    },
  );
});
