import { useState } from 'react';
import type { CreatedKey } from '../../../api/console/contracts/index.ts';
import { useConfig } from '../../data/ledger.ts';
import { useRead } from '../../data/queries.ts';
import { call } from '../../data/request.ts';
import { completionSamples, firstRequest, trialModel } from '../../data/samples.ts';
import { useChange } from '../../data/useChange.ts';
import { Button } from '../../design/button.tsx';
import { CodeTabs } from '../../design/code.tsx';
import { Confirm } from '../../design/confirm.tsx';
import { Empty, ErrorNotice, Notice, Reading } from '../../design/notice.tsx';
import { Facts, Row, Section } from '../../design/page.tsx';
import { State } from '../../design/state.tsx';
import { Time } from '../../design/time.tsx';
import { useFresh } from '../../session/session.tsx';
import { SecretOnce } from './secretOnce.tsx';

const MONEY = 'No key was changed. Credits are on the ledger and not affected.';

/** The wallet's one API key: made, replaced and revoked. */
export function KeySection() {
  const read = useRead('/key');
  const config = useConfig();
  const model = trialModel(useRead('/models').data?.data);
  const fresh = useFresh();
  const [shown, setShown] = useState<CreatedKey>();
  const [asked, setAsked] = useState<'regenerate' | 'revoke'>();
  const create = useChange(() => fresh('A key', () => call('POST', '/key')), ['/key']);
  const regenerate = useChange(
    () => fresh('A key', () => call('POST', '/key/regenerate')),
    ['/key'],
  );
  const revoke = useChange(() => call('DELETE', '/key'), ['/key']);
  const { key, suspension } = read.data ?? {};

  return (
    <Section
      title="API key"
      lead="One for the wallet. Anybody who has it can spend the credits within your limits."
    >
      <Reading of={read} what="the key's state" />
      {create.error && <ErrorNotice error={create.error} money={MONEY} />}
      {suspension && (
        <Notice tone="bad">
          <p>
            Your wallet was suspended by the {suspension.suspended_by}: {suspension.reason}
          </p>
          <p>It gets no other key until the operator reinstates it.</p>
          <p>Your credits stay yours: you can withdraw them at any time.</p>
        </Notice>
      )}
      {key === null && !suspension && (
        <Empty title="No key yet">
          <p className="soft">With a key, the official OpenAI clients work as they are.</p>
          <Row>
            <Button
              kind="primary"
              pending={create.isPending && 'Making…'}
              onClick={() => create.mutate(undefined, { onSuccess: setShown })}
            >
              Create the key
            </Button>
          </Row>
        </Empty>
      )}
      {key && (
        <>
          <Facts
            entries={[
              [
                'State',
                <State
                  key="state"
                  tone={key.status === 'active' ? 'ok' : 'bad'}
                  word={key.status}
                />,
              ],
              ['Created', <Time key="time" time={key.created_at} />],
            ]}
          />
          <Row>
            {!suspension && <Button onClick={() => setAsked('regenerate')}>Replace…</Button>}
            <Button kind="danger" onClick={() => setAsked('revoke')}>
              Revoke…
            </Button>
          </Row>
        </>
      )}
      {asked === 'regenerate' && (
        <Confirm
          title="Replace the key"
          action="Revoke it and make another"
          money={MONEY}
          onClose={() => setAsked(undefined)}
          onConfirm={async () => setShown(await regenerate.mutateAsync(undefined))}
        >
          <p>The present key stops working at once. Programs that use it get 401.</p>
        </Confirm>
      )}
      {asked === 'revoke' && (
        <Confirm
          title="Revoke the key"
          action="Revoke it"
          money={MONEY}
          onClose={() => setAsked(undefined)}
          onConfirm={() => revoke.mutateAsync(undefined)}
        >
          <p>It stops working at once. Credits and jobs are not affected.</p>
        </Confirm>
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
          <CodeTabs
            samples={completionSamples({
              publicUrl: config?.public_url ?? window.location.origin,
              apiKey: shown.api_key,
              request: firstRequest(model),
            })}
          />
        </SecretOnce>
      )}
    </Section>
  );
}
