import { createHash } from 'node:crypto';
import { type Finding, fails, holds, notCheckable } from '../../check.ts';
import type { Executable } from '../evidence.ts';

/** The program as it was built from its source. */
export interface Artifact {
  readonly code: Uint8Array;
  /** Where a hash of it was written down; undefined when the auditor names a file of their own. */
  readonly recordedSha256?: string | undefined;
}

/** What runs on the ledger is, byte for byte, what was built from the source. */
export function judgeCode(
  executable: Executable | { reason: string },
  artifact: Artifact,
): Finding {
  if ('reason' in executable) return notCheckable(executable.reason);
  const built = sha256(artifact.code);
  const { recordedSha256 = built } = artifact;
  if (built !== recordedSha256) {
    return notCheckable(`The artifact here has sha256 ${built}; recorded is ${recordedSha256}.`);
  }
  const { length } = artifact.code;
  const isPaddedWithZeros = executable.code.subarray(length).every((byte) => byte === 0);
  const deployed = sha256(
    isPaddedWithZeros ? executable.code.subarray(0, length) : executable.code,
  );
  return deployed === built
    ? holds(`sha256 ${built}, ${length} bytes.`)
    : fails(`Deployed is sha256 ${deployed}; built is ${built}.`);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
