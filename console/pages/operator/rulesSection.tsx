import { type ReactNode, useState } from 'react';
import type { LedgerRules } from '../../../api/contracts/index.ts';
import { useConfig } from '../../data/ledger.ts';
import { POLL_MS, useRead } from '../../data/queries.ts';
import { Button } from '../../design/button.tsx';
import { formatCount } from '../../design/formats.ts';
import { Reading } from '../../design/notice.tsx';
import { dialogOnUse } from '../../design/onUse.tsx';
import { Facts, Row, Section } from '../../design/page.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Ahead } from '../../design/time.tsx';
import { Address, State } from '../../design/values.tsx';
import { useSignedIn } from '../../session/signedIn.tsx';
import type { Asked, Model } from './rulesDialogs.tsx';

const RulesDialogs = dialogOnUse(() => import('./rulesDialogs.tsx'));

/** What is on the ledger and only signatures change: pauses, the gateway's stop flag, models. */
export function RulesSection() {
  const rules = useRead('/operator/ledger', { everyMs: POLL_MS.sums });
  const programId = useConfig()?.program_id;
  const { roles } = useSignedIn();
  const [asked, setAsked] = useState<Asked>();
  const { data } = rules;
  if (data === undefined) return <Reading of={rules} what="the ledger's rules" />;
  // An operator of the service has the message made that a multisig signs.
  const canRule = roles.authority || roles.operator;
  const canStop = roles.gateway_operator || roles.operator;
  return (
    <>
      <Reading of={rules} what="the ledger's rules" />
      <Pauses rules={data} onAsk={canRule && setAsked} />
      {data.gateway && <Gateway gateway={data.gateway} onAsk={canStop && setAsked} />}
      <Models models={data.models} onAsk={canRule && setAsked} />
      {asked && programId && (
        <RulesDialogs
          asked={asked}
          rules={data}
          programId={programId}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

interface Asking {
  /** False for a wallet that may not change it. */
  readonly onAsk: false | ((asked: Asked) => void);
}

const PAUSES = [
  ['Purchases', 'deposits_paused'],
  ['New jobs', 'locks_paused'],
] as const;

function Pauses({ rules, onAsk }: Asking & { rules: LedgerRules }) {
  return (
    <Section title="Pauses" lead="Signed by the program's authority. No exit can be paused.">
      <Facts
        entries={[
          ['Authority', <Address key="authority" address={rules.authority} />],
          ...PAUSES.map(([term, pause]): [string, ReactNode] => [
            term,
            <Switched
              key={pause}
              isOff={rules[pause]}
              onChange={onAsk && ((isOff) => onAsk({ kind: 'pause', changes: { [pause]: isOff } }))}
            />,
          ]),
        ]}
      />
    </Section>
  );
}

function Gateway({
  gateway: { address, operator, signers, is_stopped },
  onAsk,
}: Asking & { readonly gateway: NonNullable<LedgerRules['gateway']> }) {
  return (
    <Section title="Gateway" lead="Signed by its operator. A stopped gateway locks nothing.">
      <Facts
        entries={[
          ['Address', <Address key="address" address={address} />],
          ['Operator', <Address key="operator" address={operator} />],
          ['Signers', signers.map((signer) => <Address key={signer} address={signer} />)],
          [
            'Takes requests',
            <Switched
              key="stop"
              isOff={is_stopped}
              words={['takes requests', 'stopped', 'Stop it…', 'Start it…']}
              onChange={onAsk && ((isStopped) => onAsk({ kind: 'gateway', isStopped }))}
            />,
          ],
        ]}
      />
    </Section>
  );
}

function Models({ models, onAsk }: Asking & { models: readonly Model[] }) {
  const columns: readonly Column<Model>[] = [
    { title: 'Model', cell: ({ id }) => <code>{id}</code> },
    { title: 'Tier', cell: ({ tier }) => tier },
    {
      title: 'Credits per request',
      isKey: true,
      isNumber: true,
      cell: ({ credits_per_request }) => formatCount(credits_per_request),
    },
    {
      title: 'Per 1,000 tokens',
      isNumber: true,
      cell: ({ credits_per_1k_tokens }) => formatCount(credits_per_1k_tokens),
    },
    {
      title: 'Card',
      cell: ({ card_hash }) =>
        card_hash ? (
          <Address address={card_hash.replace('sha256:', '')} what="hash of the card" />
        ) : (
          'not pinned'
        ),
    },
    {
      title: 'Retires',
      cell: ({ retires_at }) => (retires_at ? <Ahead time={retires_at} /> : '–'),
    },
  ];
  const actions: Column<Model> = {
    title: 'Action',
    isAction: true,
    cell: (model) =>
      onAsk && (
        <Row>
          <Button size="small" onClick={() => onAsk({ kind: 'model', model })}>
            Change…
          </Button>
          <Button size="small" kind="danger" onClick={() => onAsk({ kind: 'retire', model })}>
            {model.retires_at ? 'Keep it…' : 'Retire…'}
          </Button>
        </Row>
      ),
  };
  return (
    <Section
      title="Models"
      lead="Signed by the authority. A price holds for locks after it; running jobs keep theirs."
      actions={onAsk && <Button onClick={() => onAsk({ kind: 'model' })}>Add a model…</Button>}
    >
      <Table<Model>
        caption="Models on the ledger"
        rows={models}
        rowKey={({ id }) => id}
        columns={onAsk ? [...columns, actions] : columns}
      />
    </Section>
  );
}

function Switched(props: {
  isOff: boolean;
  words?: readonly [on: string, off: string, turnOff: string, turnOn: string];
  /** False for a wallet that may not. */
  onChange: false | ((isOff: boolean) => void);
}) {
  const { isOff, words = ['open', 'paused', 'Pause…', 'Resume…'], onChange } = props;
  const [on, off, turnOff, turnOn] = words;
  return (
    <Row>
      <State tone={isOff ? 'warn' : 'ok'} word={isOff ? off : on} />
      {onChange && (
        <Button size="small" onClick={() => onChange(!isOff)}>
          {isOff ? turnOn : turnOff}
        </Button>
      )}
    </Row>
  );
}
