/** Resolves after so many milliseconds, on Node and in browsers. */
export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
