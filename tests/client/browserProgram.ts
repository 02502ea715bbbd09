import {
  auditProgram,
  type Check,
  conclude,
  connectLedger,
  createAddresses,
  gatherEvidence,
  gatherProgram,
  type LedgerNode,
  PublicKey,
  RpcError,
  verifyJob,
  verifySignature,
} from '../../programs/client/verify/index.ts';

/** What browser.test.ts runs in a browser and in Node: texts in, texts out, so that any runtime can carry them. */

export { PublicKey };

declare const host: (text: string) => Promise<string>;

/** The test passes calls on to a ledger's node that may lie. */
const nodeOf = (node: string): LedgerNode => ({
  async ask(method, params, read) {
    const { error, result } = JSON.parse(await host(JSON.stringify({ node, method, params })));
    if (error) throw new RpcError(error.message, error);
    return read(result);
  },
});

/** Not the program's code: the audit must say so. */
export const ARTIFACT = { code: Uint8Array.of(1, 2, 3) };

/** What was found, as a text: two runtimes can then be compared. */
export function describeChecks(checks: readonly Check[]): string {
  const described = checks.map(({ name, verdict, detail, evidence }) => ({
    name,
    verdict,
    detail,
    evidence: evidence.map(({ signature, slot }) => `${signature} ${slot}`),
  }));
  return JSON.stringify({ result: conclude(checks), checks: described });
}

const latin1 = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

export async function verify(input: string): Promise<string> {
  const { node, job, output, receipt } = JSON.parse(input);
  const evidence = await gatherEvidence({
    connection: connectLedger(nodeOf(node)),
    addresses: createAddresses(),
    job: new PublicKey(job),
    wait: async () => {},
  });
  const { checks } = verifyJob(evidence, {
    output: output === undefined ? undefined : latin1(output),
    receipt,
  });
  return describeChecks(checks);
}

export async function audit(node: string): Promise<string> {
  const connection = connectLedger(nodeOf(node));
  const evidence = await gatherProgram({ connection, addresses: createAddresses() });
  return describeChecks(auditProgram(evidence, ARTIFACT));
}

export async function checkSignature(input: string): Promise<string> {
  const { key, message, signature } = JSON.parse(input) as Record<string, number[]>;
  return String(
    verifySignature({
      publicKey: new PublicKey(Uint8Array.from(key ?? [])),
      message: Uint8Array.from(message ?? []),
      signature: Uint8Array.from(signature ?? []),
    }),
  );
}
