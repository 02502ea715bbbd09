// Stands in for a part of the stack in tests of what starts, watches and ends parts.
const LINES = 20;

const report = () => process.stdout.write('{"ready":true,"url":"http://127.0.0.1:4000"}\n');
const log = (text) => process.stderr.write(`${text}\n`);
setTimeout(() => undefined, 60_000);

switch (process.env.STAND_IN) {
  case 'lists what it got':
    log(Object.keys(process.env).sort().join());
    report();
    break;
  case 'fails':
    for (let line = 1; line <= LINES; line += 1) log(`line ${line}`);
    process.exit(1);
    break;
  case 'is killed':
    report();
    process.kill(process.pid, 'SIGKILL');
    break;
  case 'ignores SIGTERM':
    process.on('SIGTERM', () => undefined);
    log(process.pid);
    report();
    break;
  // Any other reports nothing.
}
