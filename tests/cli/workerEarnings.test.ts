import { describe, expect, it } from '@jest/globals';
import { plotBars } from '../../worker/setup/plot.ts';
import { describeEarnings } from '../../worker/setup/status.ts';

const earned = (day: string, model: string, baseUnits: bigint) => ({
  day,
  model,
  baseUnits,
  completionTokens: 3,
});

it('a bar chart draws each value in proportion, to an eighth of a character', () => {
  const bars = [
    { label: 'a', value: 80, text: '80' },
    { label: 'long', value: 41, text: '41' },
    { label: 'no', value: 0, text: '0' },
  ];
  expect(plotBars(bars).split('\n')).toEqual([
    `a     ${'█'.repeat(40)} 80`,
    `long  ${'█'.repeat(20)}▌ 41`,
    'no    0',
  ]);
  expect(plotBars([{ label: 'a', value: 0, text: 'none' }])).toBe('a  none');
});

describe('the earnings of a worker', () => {
  it('are summed by day and by model, to a hundredth of a credit', () => {
    const earnings = [
      earned('2026-03-02', 'qwen3-8b', 68_000n),
      earned('2026-03-02', 'qwen3-14b', 17_099n),
      earned('2026-03-01', 'qwen3-8b', 34_000n),
    ];
    const lines = describeEarnings({ earnings, isCutOff: false }, 7).split('\n');
    expect(lines[0]).toBe('Earned 11.90 credits with 3 jobs in 7 days');
    expect(lines.map((line) => line.replace(/ *[█▏▎▍▌▋▊▉]+/, ''))).toEqual([
      lines[0],
      '',
      '2026-03-01 3.40 credits, 1 job',
      '2026-03-02 8.50 credits, 2 jobs',
      '',
      'qwen3-14b 1.70 credits, 1 job',
      'qwen3-8b 10.20 credits, 2 jobs',
    ]);
  });

  it('say when there are more jobs than were read, or none', () => {
    const earnings = [earned('2026-03-02', 'qwen3-8b', 68_000n)];
    expect(describeEarnings({ earnings, isCutOff: true }, 7)).toContain('with the last 1 job');
    expect(describeEarnings({ earnings: [], isCutOff: false }, 7)).toBe(
      'No job was settled in 7 days.',
    );
  });
});
