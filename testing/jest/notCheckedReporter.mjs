const MARK = /\(NOT CHECKED: wants (.+?)\)/;

/** Ends a run with one line for each thing that tests wanted and the machine does not have. */
export default class NotCheckedReporter {
  onRunComplete(_contexts, { testResults }) {
    const counts = new Map();
    for (const { fullName } of testResults.flatMap((file) => file.testResults)) {
      const wanted = MARK.exec(fullName)?.[1];
      if (wanted) counts.set(wanted, (counts.get(wanted) ?? 0) + 1);
    }
    for (const [wanted, count] of [...counts].sort()) {
      const tests = count === 1 ? '1 test wants' : `${count} tests want`;
      process.stderr.write(`NOT CHECKED: ${tests} ${wanted}\n`);
    }
  }
}
