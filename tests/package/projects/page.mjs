// A page that verifies a job: packed.test.ts bundles this with Vite in a project with @svc-inference/client.
import {
  conclude,
  connectLedger,
  createAddresses,
  gatherEvidence,
  LedgerNodeError,
  PublicKey,
  verifyJob,
} from '@svc-inference/client/verify';

/** The test carries calls to the ledger's node: the page has no network. */
async function request(method, params) {
  const { result, error } = JSON.parse(await host(JSON.stringify({ method, params })));
  if (error) throw new LedgerNodeError(error);
  return result;
}

export async function verify(job) {
  const evidence = await gatherEvidence({
    connection: connectLedger(request),
    addresses: createAddresses(),
    job: new PublicKey(job),
  });
  return conclude(verifyJob(evidence).checks);
}
