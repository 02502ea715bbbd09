import { createHash } from 'node:crypto';
import { parseReceipt, receiptMessage, verifySignature } from '../../../proof.ts';
import { fails, holds, notApplicable, notCheckable } from '../../check.ts';
import { compare, show } from '../../compare.ts';
import type { ClientEvidence } from '../evidence.ts';
import { type Rule, rule } from '../rule.ts';

const NEWLINE = 0x0a;

/** The text that the client holds is the one that the worker proved. */
export const output = whenGiven(
  'output',
  rule('delivery.output', ['JobProven'], ({ JobProven }, { output: text = new Uint8Array() }) => {
    const { outputHash } = JobProven.data;
    const withoutNewline = text.at(-1) === NEWLINE && sha256(text.subarray(0, -1));
    if (withoutNewline && show(withoutNewline) === show(outputHash)) {
      return fails(
        'The text matches only without its last newline, which the answer does not have.',
      );
    }
    return compare(
      { "the text's sha256": [sha256(text), outputHash] },
      `The ${text.length} bytes of text have the proven sha256.`,
    );
  }),
);

/**
 * The key that settled signed that it delivered what the worker proved. One that signed for the
 * client's text instead, when that is another, convicts whoever settled.
 */
export const receipt = whenGiven(
  'receipt',
  rule('delivery.receipt', ['JobSettled'], ({ JobSettled }, record) => {
    const parts = parseReceipt(record.receipt ?? '');
    if (!parts) return fails('It is not spelled as a delivery receipt.');
    const { settledBy, outputHash, job } = JobSettled.data;
    const { programId } = record.addresses;
    const signer = parts.signer.toBase58();
    const isFor = (hash: Uint8Array) =>
      verifySignature({
        publicKey: parts.signer,
        message: receiptMessage({ programId, job, outputHash: hash }),
        signature: parts.signature,
      });
    // Anybody can sign anything with a key of his own.
    if (!parts.signer.equals(settledBy)) {
      return fails(`It is signed by ${signer}, who did not settle this job: it convicts nobody.`);
    }
    if (isFor(outputHash)) {
      return holds(`${signer}, who settled, signed that the proven text was delivered.`);
    }
    return record.output && isFor(sha256(record.output))
      ? fails(`${signer} signed that the given text was delivered, and not the proven one.`)
      : fails(`${signer} did not sign that the proven text was delivered for this job.`);
  }),
);

/** What the client gave to compare must be compared: that the job has nothing like it is no excuse. */
function whenGiven(field: keyof ClientEvidence, check: Rule): Rule {
  return (record) => {
    const found = check(record);
    if (record[field] === undefined) {
      return { ...found, ...notApplicable(`No ${field} was given.`), evidence: [] };
    }
    return found.verdict === 'not_applicable' ? { ...found, ...notCheckable(found.detail) } : found;
  };
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest();
}
