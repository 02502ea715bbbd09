import { describe, expect, it } from '@jest/globals';
import { eventData } from '../../common/format.ts';

describe('the data of a server-sent event', () => {
  it('is one line for every reader of lines, and the same value', () => {
    // What Python takes for the end of a line, JSON's own escapes among it.
    const ends = '\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029';
    const value = { text: `a${ends}b`, [`key${ends}`]: 1 };
    const data = eventData(value);
    expect([...ends].filter((end) => data.includes(end))).toEqual([]);
    expect(JSON.parse(data)).toEqual(value);
  });
});
