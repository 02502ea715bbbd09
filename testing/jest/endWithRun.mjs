// Loaded into each process of jest first. When the run is killed, its workers would otherwise continue
// with their files, without the run's database.
const CHECK_INTERVAL_MS = 500;

const parentId = process.ppid;
if (process.channel) {
  setInterval(() => process.ppid !== parentId && process.exit(1), CHECK_INTERVAL_MS).unref();
}
