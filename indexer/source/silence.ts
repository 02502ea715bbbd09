/** Notices that a stream of hints no longer says what there is to say. */
export interface Silence {
  /** The stream said something. */
  announced(): void;
  /** A sweep found something. @returns whether the stream is to be replaced */
  found(): boolean;
}

/** How long the stream may say nothing while sweeps find something. */
const SILENCE_MS_MAX = 60_000;

/**
 * The clock starts with a find of which nothing was said for a minute before, since a sweep may be
 * a moment faster than the stream; and a stream that was replaced has its minute again.
 */
export function createSilence(nowMs: () => number): Silence {
  let announcedMs = nowMs();
  let unannouncedSinceMs: number | undefined;
  return {
    announced() {
      announcedMs = nowMs();
      unannouncedSinceMs = undefined;
    },
    found() {
      const now = nowMs();
      if (now - announcedMs < SILENCE_MS_MAX) return false;
      unannouncedSinceMs ??= now;
      if (now - unannouncedSinceMs < SILENCE_MS_MAX) return false;
      announcedMs = now;
      unannouncedSinceMs = undefined;
      return true;
    },
  };
}
