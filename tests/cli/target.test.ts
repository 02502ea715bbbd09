import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { findTarget, parseServiceUrl } from '../../cli/wallet/target.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

const NODE = new URL('http://127.0.0.1:9/');

/** It names no ledger's node. */
let running: RunningService;
let service: URL;
beforeAll(async () => {
  running = await startRunningService({ workers: [] });
  service = new URL(running.baseUrl);
});
afterAll(() => running?.close());

describe('the ledger that a command works on', () => {
  it('takes what the service says of itself, unless an option says otherwise', async () => {
    const { gateway, ...target } = await findTarget({ service, rpc: NODE });
    expect(target).toEqual({ rpc: NODE, program: PROGRAM_ID, allowsLoopback: true });
    expect(gateway?.toBase58()).toBe(running.apiEnvironment.SVC_GATEWAY);
    const program = Keypair.generate().publicKey;
    expect(await findTarget({ service, rpc: NODE, program })).toMatchObject({ program });
  });

  it('is the one of its node, without a Gateway, where no service is named', async () => {
    expect(await findTarget({ rpc: NODE })).toEqual({ rpc: NODE });
  });

  it('needs a node from one of both', async () => {
    await expect(findTarget({ service })).rejects.toThrow(
      "The service names no ledger's node. Say one: --rpc.",
    );
    await expect(findTarget({})).rejects.toThrow(
      "Say where: --service, or the ledger's node with --rpc.",
    );
  });

  it('names a service that is away, and an address that is none', async () => {
    const away = findTarget({ service: new URL('http://127.0.0.1:9') });
    await expect(away).rejects.toThrow(
      'The service at 127.0.0.1:9 cannot be reached: its port is one that fetch refuses.',
    );
    expect(() => parseServiceUrl('ftp://x')).toThrow('--service is no http or https address.');
  });
});
