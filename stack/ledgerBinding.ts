import { createRequire } from 'node:module';

/** The part of the surfpool binding that is used here. */
export interface Surfnet {
  rpcUrl: string;
  wsUrl: string;
  deploy(options: { programId: string; soPath: string }): string;
  setAccount(address: string, lamports: number, data: number[], owner: string): void;
  drainEvents(): unknown[];
}

interface Binding {
  /** May block its thread for ever. */
  startWithConfig(config: object): Surfnet;
}

const platform = `${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;
const packageName = `@solana/surfpool-${platform}`;
const require = createRequire(import.meta.url);

/** @throws Error where no build of the ledger exists for this platform */
export function expectBinding(): void {
  orExplain(() => require.resolve(packageName));
}

/** @throws Error where no build of the ledger exists for this platform, or it cannot be loaded */
export function loadBinding(): Binding {
  return orExplain(() => require(packageName).Surfnet);
}

function orExplain<Result>(find: () => Result): Result {
  try {
    return find();
  } catch (error) {
    throw new Error(
      `No embedded ledger is built for ${platform}: set SOLANA_RPC_URL to a test validator's address`,
      { cause: error },
    );
  }
}
