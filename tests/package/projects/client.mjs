// A client of the program: packed.test.ts runs this in a project that has only @svc-inference/client. It
// verifies a job, and opens a credit account.
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
const payer = Keypair.fromSecretKey(Buffer.from(payerSecret, 'hex'));
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
const wallet = Keypair.generate().publicKey;
const outcome = await sender.send({
  instructions: [creditOpen({ payer: payer.publicKey, wallet })],
  signers: [],
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
