/** What TypeScript knows of the function, which runs where Node reads no TypeScript yet. */
export function findListenFault(
  host: string,
  port: number,
): Promise<{ isTaken: boolean; message: string } | undefined>;
