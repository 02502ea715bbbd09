import { useEffect, useState } from 'react';
import type { KeyList } from '../../../api/contracts/index.ts';
import { call } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { filterField, useFilters } from '../../data/useFilters.ts';
import { usePages } from '../../data/usePages.ts';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/confirm.tsx';
import { SelectField, TextArea, TextField } from '../../design/field.tsx';
import { Empty, ErrorNotice, Reading } from '../../design/notice.tsx';
import { Filters, ReadMore, Section } from '../../design/page.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Ago } from '../../design/time.tsx';
import { Address, State, type Tone } from '../../design/values.tsx';

type Key = KeyList['data'][number];

const keyOfRow = ({ wallet, created_at }: Key) => `${wallet} ${created_at}`;

const MONEY = 'Nothing has changed. Credits are never touched by a suspension.';
const TONES: Readonly<Record<Key['status'], Tone>> = {
  active: 'ok',
  suspended: 'bad',
  revoked: 'idle',
};
const STATES = [['', 'any state'], ...Object.keys(TONES)] as const;

const COLUMNS: readonly Column<Key>[] = [
  { title: 'Wallet', cell: (key) => <Address address={key.wallet} what="wallet" /> },
  {
    title: 'State',
    isKey: true,
    cell: (key) => <State tone={TONES[key.status]} word={key.status} />,
  },
  {
    title: 'Why',
    cell: ({ suspension_reason, suspended_by }) =>
      suspension_reason === null ? '–' : `${suspension_reason} (${suspended_by})`,
  },
  {
    title: 'Created',
    cell: ({ created_at }) => (created_at === null ? 'no key' : <Ago time={created_at} />),
  },
];

/** API keys, and the wallets to suspend with a reason or reinstate. @param onRead once they are there, or are not */
export function KeysSection({ onRead }: { onRead: () => void }) {
  const [filters, setFilters] = useFilters(['status', 'wallet']);
  const [suspended, setSuspended] = useState<string>();
  const { status, wallet } = filters;
  const field = filterField(filters, setFilters);
  const list = usePages('/operator/keys', { query: { status, wallet }, keyOfRow });
  const isRead = !list.isLoading;
  useEffect(() => {
    if (isRead) onRead();
  }, [isRead, onRead]);
  const reinstate = useChange(
    (key: string) => call('POST', '/operator/keys/:wallet/reinstate', { params: { wallet: key } }),
    ['/operator/keys', '/key'],
  );
  const { rows } = list;
  const actions: Column<Key> = {
    title: 'Action',
    isKey: true,
    isAction: true,
    cell: ({ status: state, wallet: of }) =>
      ({
        active: (
          <Button size="small" kind="danger" onClick={() => setSuspended(of)}>
            Suspend…
          </Button>
        ),
        suspended: (
          <Button size="small" disabled={reinstate.isPending} onClick={() => reinstate.mutate(of)}>
            Reinstate
          </Button>
        ),
        revoked: null,
      })[state],
  };
  return (
    <Section title="API keys">
      <Filters label="Keys to show">
        <SelectField options={STATES} {...field('status', 'State')} />
        <TextField isCode {...field('wallet', 'Wallet')} />
        <Button onClick={() => setSuspended('')}>Suspend a wallet…</Button>
      </Filters>
      <Reading of={list} what="the keys" />
      <ErrorNotice error={reinstate.error} money={MONEY} />
      {rows && (
        <Table
          caption="API keys"
          columns={[...COLUMNS, actions]}
          rows={rows}
          rowKey={keyOfRow}
          empty={
            <Empty title="No key fits">
              <p className="soft">Wallets make their keys in Settings.</p>
            </Empty>
          }
        />
      )}
      <ReadMore of={list} />
      {suspended !== undefined && (
        <SuspendDialog named={suspended} onClose={() => setSuspended(undefined)} />
      )}
    </Section>
  );
}

/** @param named the wallet; empty where it is still to be entered */
function SuspendDialog({ named, onClose }: { named: string; onClose: () => void }) {
  const [wallet, setWallet] = useState(named);
  const [reason, setReason] = useState('');
  const suspend = useChange(
    () =>
      call('POST', '/operator/keys/:wallet/suspend', {
        // So that the API names the field where nothing was entered.
        params: { wallet: wallet || '-' },
        body: { reason },
      }),
    ['/operator/keys', '/key'],
  );
  return (
    <Confirm
      title="Suspend the wallet"
      action="Suspend it"
      money={MONEY}
      onClose={onClose}
      onConfirm={() => suspend.mutateAsync(undefined)}
    >
      {named === '' ? (
        <TextField
          label="Wallet"
          isCode
          value={wallet}
          onChange={({ target }) => setWallet(target.value.trim())}
        />
      ) : (
        <Address address={wallet} what="wallet" />
      )}
      <p>Requests with its key, or a later one, are refused until the wallet is reinstated.</p>
      <TextArea
        label="Reason"
        hint="The owner of the wallet sees it."
        value={reason}
        maxLength={500}
        onChange={(event) => setReason(event.target.value)}
      />
    </Confirm>
  );
}
