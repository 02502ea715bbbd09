import { useSyncExternalStore } from 'react';

const SECOND_MS = 1_000;
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', SECOND_MS],
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });
const absolute = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'medium',
  timeZone: 'UTC',
});

/** The page's clock, whole seconds in Unix milliseconds; one timer for all that read it. */
const readers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  timer ??= setInterval(() => {
    for (const read of readers) read();
  }, SECOND_MS);
  return () => {
    readers.delete(reader);
    if (readers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const currentSecond = () => Math.floor(Date.now() / SECOND_MS) * SECOND_MS;

/** Unix milliseconds, anew each second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, currentSecond);
}

function formatRelative(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => Math.abs(ms) >= length) ?? ['second', SECOND_MS];
  if (Math.abs(ms) < SECOND_MS) return 'now';
  return relative.format(Math.trunc(ms / size), unit);
}

export function formatTime(iso: string): string {
  return `${absolute.format(new Date(iso))} UTC`;
}

/** How long ago, with the whole time on hover. */
export function Ago({ time }: { readonly time: string }) {
  const now = useNow();
  return (
    <time dateTime={time} title={formatTime(time)} className="number">
      {formatRelative(Math.min(0, Date.parse(time) - now))}
    </time>
  );
}

export function Time({ time }: { readonly time: string }) {
  return (
    <time dateTime={time} className="number">
      {formatTime(time)}
    </time>
  );
}

/** `0:42`, `23:05:10`: what is left; `0:00` when nothing is. */
export function formatLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / SECOND_MS));
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours = 0, ...rest] = parts;
  const shown = hours > 0 ? parts : rest;
  return shown.map((part, index) => (index ? String(part).padStart(2, '0') : part)).join(':');
}

export function formatMs(ms: number | null): string {
  if (ms === null) return '–';
  return ms < 10_000 ? `${ms.toLocaleString('en-US')} ms` : `${(ms / SECOND_MS).toFixed(1)} s`;
}
