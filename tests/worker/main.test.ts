import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createAddresses } from '../../programs/client/addresses.ts';
import { startProcess } from '../support/childProcess.ts';
import { codeOf } from './scene.ts';
import { startWritableLedger } from './writableLedger.ts';

const MAIN = 'worker/main.ts';

describe('the worker process', () => {
  it('says where it listens, answers, and ends cleanly on SIGTERM', async () => {
    const ledger = await startWritableLedger();
    const authority = Keypair.generate().publicKey;
    const process = await startProcess(MAIN, {
      WORKER_PORT: '0',
      WORKER_AUTHORITY: authority.toBase58(),
      WORKER_PROOF_KEY: JSON.stringify([...Keypair.generate().secretKey]),
      SOLANA_RPC_URL: ledger.connection.rpcEndpoint,
    });
    expect(await (await fetch(`${process.url}/health`)).json()).toEqual({
      worker_address: createAddresses().worker(authority).toBase58(),
      models: [],
      slots: 128,
      in_flight: 0,
      engine: 'builtin',
    });
    expect(await process.terminate()).toBe(0);
    await ledger.close();
  });

  it('starts while its ledger is away, and says so', async () => {
    const process = await startProcess(MAIN, {
      WORKER_PORT: '0',
      WORKER_AUTHORITY: Keypair.generate().publicKey.toBase58(),
      WORKER_PROOF_KEY: JSON.stringify([...Keypair.generate().secretKey]),
      SOLANA_RPC_URL: 'http://127.0.0.1:9',
    });
    const response = await fetch(`${process.url}/health`);
    expect([response.status, await codeOf(response)]).toEqual([503, 'ledger_unavailable']);
    expect(await process.terminate()).toBe(0);
  });

  it('names what is wrong with its environment, without any secret', async () => {
    const starting = startProcess(MAIN, {
      WORKER_PROOF_KEY: 'a-secret-that-is-no-key',
      WORKER_SLOTS: '0',
      WORKER_UPSTREAM_URL: 'http://somebody:a-secret-password@127.0.0.1:8000/v1',
      SOLANA_RPC_URL: 'ftp://ledger',
    });
    const { message } = await starting.then(
      () => new Error('the process started'),
      (error: Error) => error,
    );
    for (const name of [
      ...['WORKER_AUTHORITY', 'WORKER_PROOF_KEY', 'WORKER_SLOTS', 'SOLANA_RPC_URL'],
      'WORKER_UPSTREAM_URL: must not carry credentials',
    ]) {
      expect(message).toContain(name);
    }
    expect(message).not.toContain('a-secret');
  });
});
