import { createRequire } from 'node:module';
import { Connection, Keypair, PublicKey, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';

/** A ledger of its own for one test file, without the escrow program. */
export interface BareLedger {
  connection: Connection;
  /** Keys with lamports. */
  payers: [Keypair, Keypair];
  clockSeconds(): Promise<bigint>;
  travelSeconds(seconds: number): Promise<void>;
  close(): void;
}

interface Surfnet {
  rpcUrl: string;
  wsUrl: string;
  fundSol(address: string, lamports: number): void;
  timeTravelToTimestamp(unixMs: number): unknown;
  drainEvents(): unknown[];
  stop(): void;
}

const require = createRequire(import.meta.url);
const UNIX_TIMESTAMP_OFFSET = 32;

export function startBareLedger({ slotTimeMs = 20 } = {}): BareLedger {
  const { Surfnet } = require('@solana/surfpool-linux-x64-gnu') as {
    Surfnet: { startWithConfig(config: object): Surfnet };
  };
  const surfnet = Surfnet.startWithConfig({
    offline: true,
    blockProductionMode: 'clock',
    slotTimeMs,
    airdropSol: 1e12,
  });
  const connection = new Connection(surfnet.rpcUrl, {
    commitment: 'confirmed',
    wsEndpoint: surfnet.wsUrl,
  });
  const payers: [Keypair, Keypair] = [Keypair.generate(), Keypair.generate()];
  for (const { publicKey } of payers) surfnet.fundSol(publicKey.toBase58(), 1e12);

  async function clockSeconds(): Promise<bigint> {
    const clock = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY, 'confirmed');
    if (clock === null) throw new Error('The ledger has no Clock');
    return clock.data.readBigInt64LE(UNIX_TIMESTAMP_OFFSET);
  }

  return {
    connection,
    payers,
    clockSeconds,
    async travelSeconds(seconds) {
      surfnet.timeTravelToTimestamp((Number(await clockSeconds()) + seconds) * 1_000);
    },
    close: () => surfnet.stop(),
  };
}
void PublicKey;
