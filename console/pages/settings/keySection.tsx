import { useState } from 'react';
import type { CreatedKey, KeyState } from '../../../api/contracts/index.ts';
import { useRead } from '../../data/queries.ts';
import { call } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { Button } from '../../design/button.tsx';
import { CompletionCode } from '../../design/completionCode.tsx';
import { Confirm } from '../../design/confirm.tsx';
import { Empty, ErrorNotice, Notice, Reading } from '../../design/notice.tsx';
import { Facts, Row, Section } from '../../design/page.tsx';
import { Ago, Time } from '../../design/time.tsx';
import { State } from '../../design/values.tsx';
import { useFresh } from '../../session/session.tsx';
import { SecretOnce } from './secretOnce.tsx';

const MONEY = 'No key was changed. Credits are on the ledger and not affected.';

const QUESTIONS = {
  regenerate: {
    title: 'Replace the key',
    action: 'Revoke it and make another',
    children: <p>The present key stops working at once. Programs that use it get 401.</p>,
  },
  revoke: {
    title: 'Revoke the key',
    action: 'Revoke it',
    children: <p>It stops working at once. Credits and jobs are not affected.</p>,
  },
};

/** The wallet's one API key: made, replaced and revoked. */
export function KeySection() {
  const read = useRead('/key');
  const fresh = useFresh();
  const [shown, setShown] = useState<CreatedKey>();
  const [asked, setAsked] = useState<keyof typeof QUESTIONS>();
  const make = (path: '/key' | '/key/regenerate') => () => fresh('A key', () => call('POST', path));
  const create = useChange(make('/key'), ['/key']);
  const regenerate = useChange(make('/key/regenerate'), ['/key']);
  const revoke = useChange(() => call('DELETE', '/key'), ['/key']);
  const { key, suspension } = read.data ?? {};

  return (
    <Section
      title="API key"
      lead="One for the wallet. Anybody who has it can spend the credits within your limits."
    >
      <Reading of={read} what="the key's state" />
      <ErrorNotice error={create.error} money={MONEY} />
      {suspension && <Suspended {...suspension} />}
      {key === null && !suspension && (
        <NoKey
          isPending={create.isPending}
          onCreate={() => create.mutate(undefined, { onSuccess: setShown })}
        />
      )}
      {key && (
        <>
          <KeyFacts apiKey={key} />
          <Row>
            {!suspension && <Button onClick={() => setAsked('regenerate')}>Replace…</Button>}
            <Button kind="danger" onClick={() => setAsked('revoke')}>
              Revoke…
            </Button>
          </Row>
        </>
      )}
      {asked && (
        <Confirm
          {...QUESTIONS[asked]}
          money={MONEY}
          onClose={() => setAsked(undefined)}
          onConfirm={async () => {
            if (asked === 'revoke') await revoke.mutateAsync(undefined);
            else setShown(await regenerate.mutateAsync(undefined));
          }}
        />
      )}
      {shown && (
        <SecretOnce
          title="Your API key"
          secret={shown.api_key}
          kept="its hash"
          onClose={() => {
            setShown(undefined);
            create.reset();
            regenerate.reset();
          }}
        >
          <CompletionCode apiKey={shown.api_key} />
        </SecretOnce>
      )}
    </Section>
  );
}

function Suspended({ suspended_by, reason }: NonNullable<KeyState['suspension']>) {
  return (
    <Notice tone="bad">
      <p>
        Your wallet was suspended by the {suspended_by}: {reason}
      </p>
      <p>It gets no other key until the operator reinstates it.</p>
      <p>Your credits stay yours: you can withdraw them at any time.</p>
    </Notice>
  );
}

function NoKey({ isPending, onCreate }: { isPending: boolean; onCreate: () => void }) {
  return (
    <Empty title="No key yet">
      <p className="soft">With a key, the official OpenAI clients work as they are.</p>
      <Row>
        <Button kind="primary" pending={isPending && 'Making…'} onClick={onCreate}>
          Create the key
        </Button>
      </Row>
    </Empty>
  );
}

function KeyFacts({ apiKey }: { apiKey: NonNullable<KeyState['key']> }) {
  const { status, created_at, last_used_at } = apiKey;
  return (
    <Facts
      entries={[
        ['State', <State key="state" tone={status === 'active' ? 'ok' : 'bad'} word={status} />],
        ['Created', <Time key="time" time={created_at} />],
        ['Last use', last_used_at ? <Ago key="use" time={last_used_at} /> : 'none yet'],
      ]}
    />
  );
}
