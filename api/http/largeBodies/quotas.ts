/** Who sent a request. */
export interface Sender {
  wallet: string;
  /** As bursts are limited by it. */
  address: string;
}

type Whose = keyof Sender | 'all';

/**
 * Counts what each wallet, each address and all together hold at a time, up to a quota.
 *
 * @param max of each of them
 * @param refuse throws what the client gets, where there is no room
 */
export function createQuotas(
  max: Readonly<Record<Whose, number>>,
  refuse: (whose: Whose, limit: number) => never,
) {
  const held: Record<Whose, Map<string, number>> = {
    wallet: new Map(),
    address: new Map(),
    all: new Map(),
  };

  return {
    hold(sender: Sender) {
      const names: [Whose, string][] = [
        ['wallet', sender.wallet],
        ['address', sender.address],
        ['all', ''],
      ];
      let own = 0;

      function release(): void {
        for (const [whose, name] of names) {
          const left = (held[whose].get(name) ?? 0) - own;
          if (left > 0) held[whose].set(name, left);
          else held[whose].delete(name);
        }
        own = 0;
      }

      return {
        keep(amount: number): void {
          const more = amount - own;
          for (const [whose, name] of names) {
            if ((held[whose].get(name) ?? 0) + more <= max[whose]) continue;
            // First, or bodies that arrive together would all refuse each other.
            release();
            refuse(whose, max[whose]);
          }
          own = amount;
          for (const [whose, name] of names) {
            held[whose].set(name, (held[whose].get(name) ?? 0) + more);
          }
        },
        release,
      };
    },
  };
}
