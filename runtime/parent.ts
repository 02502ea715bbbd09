const CHECK_INTERVAL_MS = 500;

/**
 * Ends this process the way SIGTERM does once the process that started it is gone, however that
 * one died. Does nothing unless SVC_PARENT_PID names the parent.
 *
 * Asked is who the parent is now, not whether the named process lives: its id may have been given
 * to another process by then, while an orphan is always adopted by somebody else.
 */
export function endWithParent(environment: NodeJS.ProcessEnv = process.env): void {
  if (!environment.SVC_PARENT_PID) return;
  const parentId = Number(environment.SVC_PARENT_PID);
  const timer = setInterval(() => {
    if (process.ppid === parentId) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, CHECK_INTERVAL_MS);
  timer.unref();
}
