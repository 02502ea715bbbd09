import { Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { type SignIn, withSession } from './service.ts';
import { addSignInOptions } from './signIn.ts';

const threshold = z.object({ threshold_credits: z.number(), is_low: z.boolean() });

/** `svc alerts`: when the service reports that a wallet's credits run low. */
export function createAlertsCommand(): Command {
  const alerts = new Command('alerts').description("a wallet's alerts");
  addSignInOptions(alerts.command('threshold'))
    .description('show below how many credits credit.low is sent to webhooks, or set it')
    .argument('[credits]', 'the new threshold; 0 for none', parseThreshold)
    .action(setThreshold);
  return alerts;
}

async function setThreshold(credits: number | undefined, signIn: SignIn): Promise<void> {
  const answer = await withSession(signIn, ({ call }) =>
    credits === undefined
      ? call('GET /threshold')
      : call('PUT /threshold', { threshold_credits: credits }),
  );
  const { threshold_credits, is_low } = threshold.parse(answer);
  console.log(
    `credit.low is sent when fewer than ${threshold_credits} credits remain.${is_low ? ' It was sent, and is armed again above that.' : ''}`,
  );
}

function parseThreshold(text: string): number {
  if (/^\d{1,13}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of credits.');
}
