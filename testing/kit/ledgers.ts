import type { Chain } from './chain.ts';

/** Each ledger's package is loaded on use: a project installs the one that it uses. */
const LEDGERS = {
  litesvm: {
    needs: 'litesvm',
    start: async () => (await import('./litesvm.ts')).startLiteSvm(),
  },
  bankrun: {
    needs: 'solana-bankrun',
    start: async () => (await import('./bankrun.ts')).startBankrun(),
  },
};

/** A runtime inside this process. */
export type LedgerName = keyof typeof LEDGERS;

export const LEDGER_NAMES = Object.keys(LEDGERS);

/** @throws Error naming the package that the ledger needs, when it is not installed */
export async function startLedger(name: LedgerName): Promise<Chain> {
  const { needs, start } = LEDGERS[name];
  try {
    return await start();
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    const others = LEDGER_NAMES.filter((other) => other !== name).map((other) => `'${other}'`);
    const message = `ledger: '${name}' needs: npm install --save-dev ${needs}. Others: ${others}`;
    throw new Error(message, { cause });
  }
}

/** Whether a package, or its part for this platform, is not installed. */
function isMissing(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND';
}
