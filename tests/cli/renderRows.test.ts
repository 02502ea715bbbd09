import { describe, expect, it } from '@jest/globals';
import { renderRows } from '../../cli/terminal/output.ts';

const rows = (count: number) => Array.from({ length: count }, (_, place) => [`row ${place}.`, 'x']);
const headsIn = (text: string) => text.match(/first/g)?.length;
const rowsIn = (text: string) => text.match(/row \d+\./g) ?? [];

describe('a table of rows', () => {
  it('has a header even without rows', () => {
    expect(headsIn(renderRows(['first', 'second'], []))).toBe(1);
  });

  it('is split after each 1,000 rows, with every row once and in order', () => {
    expect(headsIn(renderRows(['first', 'second'], rows(1_000)))).toBe(1);
    const text = renderRows(['first', 'second'], rows(2_500));
    expect(headsIn(text)).toBe(3);
    expect(rowsIn(text)).toEqual(rows(2_500).map(([name]) => name));
  });
});
