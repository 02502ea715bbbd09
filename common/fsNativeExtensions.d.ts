declare module 'fs-native-extensions' {
  /** @returns whether this open file now holds the lock; the kernel lets go of it with the process */
  export function tryLock(fd: number): boolean;
}
