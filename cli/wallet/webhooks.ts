import { Argument, Command } from 'commander';
import { WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { parseUrlOf } from '../terminal/ledgerNode.ts';
import { listen } from './listen.ts';
import { type SignIn, withSession } from './service.ts';
import { addSignInOptions } from './signIn.ts';
import { trigger } from './trigger.ts';

/** `svc webhooks` of a wallet's owner. In a checkout the operators' commands stand beside these. */
export function createWebhooksCommand(): Command {
  const webhooks = new Command('webhooks')
    .description("a wallet's events on this machine, and events that try its webhooks")
    .commandsGroup('For customers, signed in by wallet:');
  addSignInOptions(webhooks.command('listen'))
    .description("send the wallet's events to a receiver here, signed as webhooks are")
    .requiredOption('--forward-to <url>', 'where the receiver listens', (text) =>
      parseUrlOf('--forward-to', text),
    )
    .action(listenHere);
  addSignInOptions(webhooks.command('trigger'))
    .description('send an example of an event, once, to the webhooks and terminals of the wallet')
    .addArgument(new Argument('<kind>', 'the kind of event').choices(WEBHOOK_KINDS))
    .action((kind: string, signIn: SignIn) =>
      withSession(signIn, ({ call }) => trigger(kind, call)),
    );
  return webhooks;
}

async function listenHere({ forwardTo, ...signIn }: SignIn & { forwardTo: URL }): Promise<void> {
  const leaving = new AbortController();
  // Below npx one Ctrl-C arrives twice: from the terminal, and passed on.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => leaving.abort());
  await withSession(signIn, (session) => listen({ session, forwardTo, signal: leaving.signal }));
}
