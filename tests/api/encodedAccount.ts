import { ACCOUNT_VERSION } from '../../programs/client/accounts.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { coder } from '../../testing/ledger/anchorCoder.ts';
import { createRandom } from '../../testing/random.ts';
import { randomStruct } from '../client/randomValue.ts';

/** An account of the program as a node reports it. What a test leaves out of its fields is drawn. */
export async function encodedAccount(
  name: 'CreditAccount' | 'Gateway' | 'Job',
  fields: object | ((drawn: Record<string, unknown>) => object) = {},
) {
  const drawn = randomStruct(name, createRandom()).forCoder as Record<string, unknown>;
  const own = typeof fields === 'function' ? fields(drawn) : fields;
  const data = await coder.accounts.encode(name, { ...drawn, version: ACCOUNT_VERSION, ...own });
  return { owner: PROGRAM_ID, data };
}
