import { joinClasses } from './joinClasses.ts';
import styles from './values.module.css';

const whole = new Intl.NumberFormat('en-US');
const CREDITS_PER_USDC = 100n;

export function formatCount(value: number | bigint): string {
  return whole.format(value);
}

/** One credit is 0.01 of the stablecoin, so the amount is exact. */
export function formatUsdc(credits: number | bigint): string {
  const value = BigInt(credits);
  const sign = value < 0n ? '−' : '';
  const size = value < 0n ? -value : value;
  const cents = String(size % CREDITS_PER_USDC).padStart(2, '0');
  return `${sign}${whole.format(size / CREDITS_PER_USDC)}.${cents} USDC`;
}

/** An amount of credits with its stablecoin beneath, or beside it in text. */
export function Credits({
  credits,
  size,
}: {
  readonly credits: number | bigint;
  readonly size?: 'large' | 'line';
}) {
  return (
    <span className={joinClasses(styles.credits, size === 'large' && styles.large)}>
      {formatCount(credits)}
      {size === 'large' && <span className={styles.unit}> credits</span>}
      {size === 'line' ? (
        <span className="soft"> ({formatUsdc(credits)})</span>
      ) : (
        <span className={styles.usdc}>{formatUsdc(credits)}</span>
      )}
    </span>
  );
}

/** What somebody wrote into a field for credits; undefined where it is no whole number from 1 on. */
export function parseCredits(text: string): bigint | undefined {
  const digits = text.trim().replaceAll(',', '');
  return /^[1-9]\d{0,17}$/.test(digits) ? BigInt(digits) : undefined;
}
