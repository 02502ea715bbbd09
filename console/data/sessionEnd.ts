import { RequestError } from './request.ts';

/** Called when the session is over, so that the page asks for a new one without leaving. */
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

/** Called when a wallet leaves these pages: it signed out, or another one signed in. */
const leavings = new Set<() => void>();

export function noteLeavingWallet(): void {
  for (const forget of leavings) forget();
}

export function onLeavingWallet(forget: () => void): void {
  leavings.add(forget);
}
