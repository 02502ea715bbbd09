import { useSyncExternalStore } from 'react';

/** The browser's storage, empty where it is refused. It never gets a key, a prompt or an answer. */
export const storage = {
  get(name: string): string | null {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },
  /** @returns whether it is kept */
  set(name: string, value: string | null): boolean {
    try {
      if (value === null) localStorage.removeItem(name);
      else localStorage.setItem(name, value);
      return true;
    } catch {
      return false;
    }
  },
};

/** A value outside of React that several components read. */
export interface Store<Value> {
  get(): Value;
  set(value: Value): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<Value>(first: Value): Store<Value> {
  let current = first;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set(value) {
      current = value;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useStore<Value>(store: Store<Value>): Value {
  return useSyncExternalStore(store.subscribe, store.get);
}
