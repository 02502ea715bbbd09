import { useState } from 'react';
import type { ConsoleAccount } from '../../../api/contracts/index.ts';
import { useRead } from '../../data/queries.ts';
import { Button } from '../../design/button.tsx';
import { formatCount } from '../../design/formats.ts';
import { Empty, Notice, Reading } from '../../design/notice.tsx';
import { dialogOnUse } from '../../design/onUse.tsx';
import { Facts, Numbers, PageHeader, Row, Section } from '../../design/page.tsx';
import { Ago } from '../../design/time.tsx';
import { Address, Credits, State } from '../../design/values.tsx';
import { Inability } from '../../ledger/signingObstacle.tsx';
import { APP_PAGES } from '../../routes.ts';
import type { Asked } from './creditsDialogs.tsx';
import { HistorySection } from './historySection.tsx';

const CreditsDialogs = dialogOnUse(() => import('./creditsDialogs.tsx'));
const load = () => void CreditsDialogs.load().catch(() => undefined);
/** Of what opens a dialog: its code is loaded before the press. */
const intent = { onPointerEnter: load, onFocus: load };

export default function CreditsPage() {
  const read = useRead('/account');
  const { data } = read;
  const [asked, setAsked] = useState<Asked>();
  return (
    <>
      <PageHeader {...APP_PAGES['/console/credits'].head}>
        {data?.is_open && (
          <Row>
            {data.available_credits > 0 && (
              <Button {...intent} onClick={() => setAsked('withdraw')}>
                Withdraw…
              </Button>
            )}
            {!data.rules.deposits_paused && (
              <Button {...intent} kind="primary" onClick={() => setAsked('buy')}>
                Buy credits…
              </Button>
            )}
          </Row>
        )}
      </PageHeader>
      <Reading of={read} what="the account" />
      {data && (
        <>
          <Inability />
          {data.rules.deposits_paused && (
            <Notice tone="warn">
              <p>Buying credits is paused. You can still spend and withdraw your credits.</p>
            </Notice>
          )}
          {data.is_open ? (
            <Balances account={data} />
          ) : (
            <Empty title="No credit account yet">
              <p>Your first purchase opens it, with your limits, in the same signature.</p>
              {!data.rules.deposits_paused && (
                <Row>
                  <Button {...intent} kind="primary" onClick={() => setAsked('buy')}>
                    Buy the first credits
                  </Button>
                </Row>
              )}
            </Empty>
          )}
          <p className="soft">
            One credit is 0.01 of the stablecoin with the mint{' '}
            <Address address={data.rules.credit_mint} what="mint" />
          </p>
          {data.is_open && <SpenderSection account={data} onAsk={setAsked} />}
          {data.is_open && <HistorySection />}
          {asked && (
            <CreditsDialogs asked={asked} account={data} onClose={() => setAsked(undefined)} />
          )}
        </>
      )}
    </>
  );
}

function Balances({ account }: { account: ConsoleAccount }) {
  const { available_credits, locked_credits, charged_today_credits, owed_credits } = account;
  const { last_topup_at } = account;
  return (
    <Section title="Balance">
      <Credits credits={available_credits} size="large" />
      <Numbers
        entries={[
          ['Charged today', formatCount(charged_today_credits)],
          ['Locked now', formatCount(locked_credits)],
          ['Owed after disputes', formatCount(owed_credits)],
          ['Last purchase', last_topup_at ? <Ago time={last_topup_at} /> : 'none yet'],
        ]}
      />
    </Section>
  );
}

function SpenderSection({
  account,
  onAsk,
}: {
  account: ConsoleAccount;
  onAsk: (asked: Asked) => void;
}) {
  return (
    <Section
      title="Who may lock your credits"
      lead="The program holds the spender to these limits. The service cannot pass them."
      actions={
        <Row>
          <Button {...intent} onClick={() => onAsk('limits')}>
            Change the limits…
          </Button>
          {account.spender && (
            <Button {...intent} kind="danger" onClick={() => onAsk('stop')}>
              Stop the spender…
            </Button>
          )}
        </Row>
      }
    >
      <Spender account={account} />
    </Section>
  );
}

function Spender({ account: { spender } }: { account: ConsoleAccount }) {
  if (spender === null) {
    return (
      <Notice tone="warn">
        <p>Only your wallet may lock credits: requests with your API key get 403.</p>
        <p>Change the limits to name the service again.</p>
      </Notice>
    );
  }
  const limit = (credits: string | null, period: string) =>
    credits === null ? (
      `no limit for a ${period}`
    ) : (
      <Credits credits={BigInt(credits)} size="line" />
    );
  return (
    <Facts
      entries={[
        ['Spender', <Address key="address" address={spender.address} />],
        [
          'Who it is',
          spender.is_service ? (
            <State key="who" tone="ok" word="this service's gateway" />
          ) : (
            <State key="who" tone="warn" word="not this service" />
          ),
        ],
        ['At most per job', limit(spender.limit_per_job_credits, 'job')],
        ['At most per day, charged and locked', limit(spender.limit_per_day_credits, 'day')],
      ]}
    />
  );
}
