import { RequestError } from './request.ts';

/** Tells the page that the session is over, so that it asks for a new one without leaving. */
const listeners = new Set<() => void>();

export function isSessionOver(error: unknown): boolean {
  return error instanceof RequestError && error.code === 'session_required';
}

export function noteEndedSession(error: unknown): void {
  if (!isSessionOver(error)) return;
  for (const listener of listeners) listener();
}

export function onEndedSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
