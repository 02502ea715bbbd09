import { formatCount } from './formats.ts';
import { joinClasses } from './joinClasses.ts';
import styles from './values.module.css';

const CREDITS_PER_USDC = 100n;

/** One credit is 0.01 of the stablecoin, so the amount is exact. */
export function formatUsdc(credits: number | bigint): string {
  const value = BigInt(credits);
  const sign = value < 0n ? '−' : '';
  const size = value < 0n ? -value : value;
  const cents = String(size % CREDITS_PER_USDC).padStart(2, '0');
  return `${sign}${formatCount(size / CREDITS_PER_USDC)}.${cents} USDC`;
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

/** The amount that was entered, or a sentence that says what is wrong with it. */
type ReadCredits =
  | { readonly credits: bigint; readonly wrong?: never }
  | { readonly credits?: never; readonly wrong: string };

/** Alone, or with commas between thousands: "1,5" must not become 15. */
const WHOLE = /^(?:\d{1,20}|\d{1,3}(?:,\d{3})+)$/;

/**
 * Reads an amount as it was written.
 *
 * @param bounds.name what the amount is, as the sentence begins
 * @param bounds.least the smallest one that is taken; by default 1
 */
export function readCredits(
  text: string,
  { name, least = 1n, most }: { readonly name: string; readonly least?: bigint; most: bigint },
): ReadCredits {
  const given = text.trim();
  const credits = WHOLE.test(given) ? BigInt(given.replaceAll(',', '')) : undefined;
  if (credits !== undefined && credits >= least && credits <= most) return { credits };
  const range = `${formatCount(least)} to ${formatCount(most)}`;
  return { wrong: `${name}: a whole number from ${range}.` };
}
