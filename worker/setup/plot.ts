/** One line of a bar chart. */
interface Bar {
  readonly label: string;
  readonly value: number;
  /** Printed behind the bar. */
  readonly text: string;
}

const BAR_CHARACTERS = 40;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;
const PARTS = EIGHTHS.length;

/** Draws bars in proportion to the greatest value, to an eighth of a character. */
export function plotBars(bars: readonly Bar[]): string {
  const greatest = Math.max(...bars.map(({ value }) => value), 0);
  const labelWidth = Math.max(...bars.map(({ label }) => label.length), 0);
  return bars
    .map(({ label, value, text }) => {
      const parts = greatest === 0 ? 0 : Math.round((value / greatest) * BAR_CHARACTERS * PARTS);
      const bar = '█'.repeat(Math.floor(parts / PARTS)) + EIGHTHS[parts % PARTS];
      return `${label.padEnd(labelWidth)}  ${bar}${bar && ' '}${text}`;
    })
    .join('\n');
}
