import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { type StartedProcess, startProcess } from '../support/childProcess.ts';
import type { TestLedger } from '../support/ledger.ts';

const LAMPORTS = 10e9;

/** Starts the indexer as an operator would, with a crank of its own. */
export function startIndexer(ledger: TestLedger, databaseUrl: string): Promise<StartedProcess> {
  const crank = Keypair.generate();
  ledger.fundLamports(crank.publicKey, LAMPORTS);
  return startProcess('indexer/main.ts', {
    DATABASE_URL: databaseUrl,
    SOLANA_RPC_URL: ledger.rpcUrl,
    SOLANA_WS_URL: ledger.wsUrl,
    SVC_CRANK_KEY: bs58.encode(crank.secretKey),
    INDEXER_PORT: '0',
    LOG_LEVEL: 'fatal',
  });
}
