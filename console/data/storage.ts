/** What this browser keeps for the pages; nothing where it refuses to. Never a key, a prompt or an answer. */
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
