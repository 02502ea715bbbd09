import { fileURLToPath } from 'node:url';
import bs58 from 'bs58';
import idl from '../programs/client/idl.json' with { type: 'json' };
import { loadBinding, type Surfnet } from './ledgerBinding.ts';
import { callLedger } from './ledgerCall.ts';
import { watchParent } from './parentWatch.ts';

// The embedded ledger has a process of its own, which can be killed: it draws its ports by chance,
// and blocks its thread for ever where one is taken by then, once in hundreds of starts while
// others start beside it. It keeps nothing, so that SIGTERM may end it as it stands.

const PROGRAM_PATH = fileURLToPath(
  new URL('../programs/escrow/artifacts/escrow-v3.so', import.meta.url),
);
/** The ledger's faucet gives no more than this at its start. */
const PAYER_LAMPORTS = 100_000 * 1e9;
/** The ledger stops when the queue of its events is full, so under load they are taken often. */
const DRAIN_INTERVAL_MS = 50;
/** A secret key is followed by its public key. */
const PUBLIC_KEY_OFFSET = 32;
/** Program: kind u32, then the address of its ProgramData. */
const PROGRAM_DATA_OFFSET = 4;
const ADDRESS_BYTES = 32;
/** ProgramData: kind u32, slot u64, then the optional upgrade authority. */
const UPGRADE_AUTHORITY_OFFSET = 12;

interface Account {
  lamports: number;
  data: Buffer;
  owner: string;
}

watchParent();
const payerSecretKey = bs58.decode(process.env.SVC_LEDGER_PAYER_KEY ?? '');
const surfnet = loadBinding().startWithConfig({
  offline: true,
  blockProductionMode: 'clock',
  slotTimeMs: Number(process.env.SVC_LEDGER_SLOT_TIME_MS),
  // Despite its name this is counted in lamports.
  airdropSol: PAYER_LAMPORTS,
  payerSecretKey: [...payerSecretKey],
});
surfnet.deploy({ programId: idl.address, soPath: PROGRAM_PATH });
await setUpgradeAuthority(surfnet, payerSecretKey.subarray(PUBLIC_KEY_OFFSET));
setInterval(() => surfnet.drainEvents(), DRAIN_INTERVAL_MS);
const { rpcUrl, wsUrl } = surfnet;
process.stdout.write(`${JSON.stringify({ ready: true, url: rpcUrl, wsUrl })}\n`);

/** The binding deploys under an authority whose key nobody has. */
async function setUpgradeAuthority(ledger: Surfnet, authority: Uint8Array): Promise<void> {
  const program = await readAccount(ledger, idl.address);
  const address = bs58.encode(
    program.data.subarray(PROGRAM_DATA_OFFSET, PROGRAM_DATA_OFFSET + ADDRESS_BYTES),
  );
  const { lamports, data, owner } = await readAccount(ledger, address);
  data.set([1, ...authority], UPGRADE_AUTHORITY_OFFSET);
  ledger.setAccount(address, lamports, [...data], owner);
}

async function readAccount({ rpcUrl }: Surfnet, address: string): Promise<Account> {
  const { value } = await callLedger<{
    value: (Omit<Account, 'data'> & { data: [string] }) | null;
  }>(rpcUrl, 'getAccountInfo', [address, { encoding: 'base64', commitment: 'confirmed' }]);
  if (!value) throw new Error('the ledger did not keep the deployed program');
  return { ...value, data: Buffer.from(value.data[0], 'base64') };
}
