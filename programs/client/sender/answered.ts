/** Longer than any healthy node takes; web3.js itself would wait for ever. */
const ANSWER_MS_MAX = 10_000;

/** The answer of a ledger's node, or an error when it does not come in time. */
export async function answered<Answer>(request: Promise<Answer>): Promise<Answer> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`The ledger's node did not answer within ${ANSWER_MS_MAX} ms`));
  }, ANSWER_MS_MAX).unref();
  try {
    return await Promise.race([request, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
