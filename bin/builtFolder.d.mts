/** What TypeScript knows of the function, which runs where Node reads no TypeScript yet. */
export function makeFolder(options: {
  built: string;
  sources: readonly string[];
  build(target: string): void | Promise<void>;
}): Promise<void>;
