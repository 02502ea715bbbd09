import { spawnSync } from 'node:child_process';
import { BASH } from '../../../testing/machine/shell.ts';

/** What a reader fills in, such as `<your address>`; a shell would redirect. */
const PLACEHOLDER = /<\w[\w -]*\w>/g;

/** Has bash read a script without running it. @returns what it says against it */
function read(script: string): string {
  const input = script.replaceAll(PLACEHOLDER, 'filled_in');
  // A shell complains of a language that the machine does not have.
  const env = { ...process.env, LC_ALL: 'C' };
  return spawnSync(BASH[0], [...BASH.slice(1), '-n'], { input, env, encoding: 'utf8' }).stderr;
}

/** @throws Error with what a shell finds wrong */
export function checkShell(script: string): void {
  const problem = read(script);
  if (problem) throw new Error(problem.trim());
}

/** A command goes on in the next line where it ends within a quote, a brace, or by a backslash. */
const isOpen = (command: string): boolean =>
  command.endsWith('\\') || /unexpected (?:EOF|end of file)/.test(read(command));

/** The commands of a session: what follows `$ ` in it, without what they print. */
export function commandsOf(session: string): string[] {
  const commands: string[] = [];
  const lines = session.trimEnd().split('\n');
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    if (!line.startsWith('$ ')) continue;
    let command = line.slice('$ '.length);
    while (lines.length > 0 && isOpen(command)) command += `\n${lines.shift()}`;
    commands.push(command);
  }
  return commands;
}

/** @throws Error when there is no command in it, or a shell finds one wrong */
export function checkConsole(session: string): void {
  const commands = commandsOf(session);
  if (commands.length === 0) throw new Error('no line begins with "$ ": what printed this?');
  for (const command of commands) checkShell(command);
}
