// The other ledger of the comparison, in a process that can be killed: it blocks its thread for ever
// where a port that it has drawn by chance is taken.
import { createRequire } from 'node:module';

const platform = `${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;
const { Surfnet } = createRequire(import.meta.url)(`@solana/surfpool-${platform}`);
const surfnet = Surfnet.startWithConfig({
  offline: true,
  blockProductionMode: 'clock',
  slotTimeMs: 20,
  airdropSol: 1_000_000_000_000,
});
setInterval(() => surfnet.drainEvents(), 50);
process.stdout.write(`${JSON.stringify({ rpcUrl: surfnet.rpcUrl, wsUrl: surfnet.wsUrl })}\n`);
