// A client of the program: packed.test.ts and emptyProjects.test.ts run this in projects that have
// only @svc-inference/client, with one web3.js or the other. It verifies a job, and opens a credit
// account, for which a key and a wallet sign.
import { Keypair } from '@solana/web3.js';
import { connectRpc, createSender, creditOpen, fetchJob, IDL } from '@svc-inference/client';
import {
  conclude,
  connectLedger,
  createAddresses,
  gatherEvidence,
  PublicKey,
  verifyJob,
} from '@svc-inference/client/verify';

const [rpcUrl, wsUrl, job, payerSecret] = process.argv.slice(2);
const payer = await Keypair.fromSecretKey(Buffer.from(payerSecret, 'hex'));
const connection = connectLedger(connectRpc({ url: rpcUrl }));
const address = new PublicKey(job);

const evidence = await gatherEvidence({ connection, addresses: createAddresses(), job: address });
const { status } = await fetchJob(connection, address);

// Node 20 has no WebSocket: there the sender polls.
const hasSocket = 'WebSocket' in globalThis;
const sender = createSender({
  rpc: connectRpc({ url: rpcUrl }),
  feePayers: [payer],
  commitment: 'confirmed',
  logger: console,
  ...(hasSocket && { wsUrl }),
});
const key = await Keypair.generate();
const wallet = {
  publicKey: key.publicKey,
  async signTransaction(transaction) {
    await transaction.sign([key]);
    return transaction;
  },
};
const limits = { limitPerJobCredits: 0n, limitPerDayCredits: 0n };
const [payerKey, walletKey] = [payer.publicKey, wallet.publicKey];
const outcome = await sender.send({
  instructions: [creditOpen({ payer: payerKey, wallet: walletKey, spender: payerKey, ...limits })],
  signers: [wallet],
  computeUnitLimit: 50_000,
});
sender.close();

process.stdout.write(
  JSON.stringify({
    verdict: conclude(verifyJob(evidence).checks),
    status,
    instructions: IDL.instructions.length,
    outcome: outcome.status,
    hasSocket,
  }),
);
