import { useSyncExternalStore } from 'react';
import { serviceNow } from '../data/serviceTime.ts';
import { formatAgo, formatAhead, formatTime } from './formats.ts';

const SECOND_MS = 1_000;

/** One timer for all that read the time. */
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

/** The service's time in Unix milliseconds, in whole steps. */
export function useNow(stepMs = SECOND_MS): number {
  return useSyncExternalStore(subscribe, () => Math.floor(serviceNow() / stepMs) * stepMs);
}

interface TimeProps {
  readonly time: string;
}

/** How long ago, with the whole time on hover. */
export const Ago = ({ time }: TimeProps) => (
  <time dateTime={time} title={formatTime(time)} className="number">
    {formatAgo(useNow() - Date.parse(time))}
  </time>
);

/** How far ahead, with the whole time on hover. */
export const Ahead = ({ time }: TimeProps) => (
  <time dateTime={time} title={formatTime(time)} className="number">
    {formatAhead(Date.parse(time) - useNow())}
  </time>
);

/** The whole time, for the details of one thing. Lists say how long ago. */
export const Time = ({ time }: TimeProps) => (
  <time dateTime={time} className="number">
    {formatTime(time)}
  </time>
);

/** `0:42`, `23:05:10`: what is left; `0:00` when nothing is. */
export function formatLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / SECOND_MS));
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours = 0, ...rest] = parts;
  const shown = hours > 0 ? parts : rest;
  return shown.map((part, index) => (index ? String(part).padStart(2, '0') : part)).join(':');
}
