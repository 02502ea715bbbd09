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
