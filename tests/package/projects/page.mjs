// A page that verifies a job: packed.test.ts bundles this with Vite in a project with @svc-inference/client.
import {
  conclude,
  connectLedger,
  createAddresses,
  gatherEvidence,
  PublicKey,
  RpcError,
  verifyJob,
} from '@svc-inference/client/verify';

/** The test carries calls to the ledger's node: the page has no network. */
const node = {
  async ask(method, params, read) {
    const { result, error } = JSON.parse(await host(JSON.stringify({ method, params })));
    if (error) throw new RpcError(error.message, error);
    return read(result);
  },
};

export async function verify(job) {
  const evidence = await gatherEvidence({
    connection: connectLedger(node),
    addresses: createAddresses(),
    job: new PublicKey(job),
  });
  return conclude(verifyJob(evidence).checks);
}
