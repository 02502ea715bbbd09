import type { Claim, Idempotency } from '../idempotency/idempotency.ts';
import type { RequestIdentity } from '../idempotency/identity.ts';
import type { Caller } from '../middleware/authenticate.ts';
import { assertSpender } from '../middleware/requireSpender.ts';
import type { KeyAdmission } from '../services/keyAdmission.ts';
import type { Payer } from '../statements/keyAndAccount.ts';

export interface ClaimServices {
  idempotency: Idempotency;
  keys: KeyAdmission;
  /** The Gateway account's address. */
  gateway: string;
}

/** A request that is this one's to answer, and who pays for it. */
export interface Claimed {
  payer: Payer;
  claim: Claim;
}

/**
 * Claims a request for the job that it is to become. A key that was only recognized is admitted on
 * the way: with the claim, in one statement, unless an earlier answer may have to be given again.
 *
 * @throws ApiError of the key, the spender or the Idempotency-Key
 */
export async function claimRequest(
  services: ClaimServices,
  options: { caller: Caller; identity: RequestIdentity; jobId: string },
): Promise<Claimed> {
  const { idempotency, keys, gateway } = services;
  const { caller, identity, jobId } = options;
  const { keySha256 } = caller;
  if (identity.mayRepeat) {
    const payer = caller.key ?? (await keys.admit(keySha256));
    assertSpender(payer, gateway);
    return { payer, claim: await idempotency.claim(identity, jobId) };
  }
  const claimed = await idempotency.claimAnew(identity, keySha256, jobId);
  if (claimed) return claimed;
  // This tells why not, unless the key's suspension was lifted in this very moment.
  await keys.admit(keySha256);
  return claimRequest(services, options);
}
