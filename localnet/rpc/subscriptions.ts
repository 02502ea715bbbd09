import { base58 } from '@scure/base';
import { z } from 'zod';
import { nameOfBytes } from '../../programs/client/platform/bytes.ts';
import { producedSlot } from '../bank/mood.ts';
import { addressText } from '../wire/text.ts';
import { encodeNotified } from './encode/account.ts';
import { filterOf } from './methods/accounts.ts';
import { type Method, method, type RpcContext, tooManySubscriptions } from './protocol/method.ts';
import {
  accountReading,
  address,
  commitment as commitmentParameter,
  config as configuration,
  optional,
  programReading,
  signatureText,
} from './protocol/parameters.ts';

interface Subscription {
  readonly kind: Kind;
  end(): void;
}

const KINDS = ['account', 'logs', 'program', 'root', 'signature', 'slot'] as const;
type Kind = (typeof KINDS)[number];

/** Agave has the same limit for one connection. */
const SUBSCRIPTIONS_MAX = 100_000;

const mentioned = z.union([
  z.enum(['all', 'allWithVotes']),
  z.object({ mentions: z.array(address).length(1) }),
]);
const commitmentOnly = configuration(z.object({ commitment: optional(commitmentParameter) }));
const signatureConfig = configuration(
  z.object({
    commitment: optional(commitmentParameter),
    enableReceivedNotification: optional(z.boolean()),
  }),
);

/** The subscriptions of one websocket. @param notify sends a message to it */
export function createSubscriptions(context: RpcContext, notify: (message: string) => void) {
  const { bank } = context;
  const open = new Map<number, Subscription>();

  function send(kind: Kind, id: number, result: unknown): void {
    const params = { result, subscription: id };
    notify(JSON.stringify({ jsonrpc: '2.0', method: `${kind}Notification`, params }));
  }

  /** @param start begins the subscription and returns a function that ends it */
  function subscribe(kind: Kind, start: (id: number) => () => void): number {
    if (open.size >= SUBSCRIPTIONS_MAX) throw tooManySubscriptions();
    const id = nextId();
    open.set(id, { kind, end: start(id) });
    return id;
  }

  function unsubscribe(id: number): boolean {
    open.get(id)?.end();
    return open.delete(id);
  }

  const subscribing: Record<Kind, Method> = {
    account: method({ address, config: accountReading }, (_, { address: of, config }) => {
      const key = nameOfBytes(of);
      return subscribe('account', (id) =>
        bank.onBlock(config.commitment ?? 'finalized', ({ slot, changes }) => {
          const change = changes.get(key);
          if (!change) return;
          const { after } = change;
          const value =
            after === null ? CLOSED_ACCOUNT : encodeNotified(bank.runtime, after, config);
          send('account', id, notified(slot, value));
        }),
      );
    }),

    program: method({ programId: address, config: programReading }, (_, given) => {
      const { config } = given;
      const owner = nameOfBytes(given.programId);
      const holds = filterOf(config.filters ?? []);
      return subscribe('program', (id) =>
        bank.onBlock(config.commitment ?? 'finalized', ({ slot, changes }) => {
          for (const { address: at, after } of changes.values()) {
            if (!after || nameOfBytes(after.owner) !== owner || !holds(after)) continue;
            const account = encodeNotified(bank.runtime, after, config);
            send('program', id, notified(slot, { account, pubkey: addressText(at) }));
          }
        }),
      );
    }),

    logs: method({ mentioned, config: commitmentOnly }, (_, { mentioned: which, config }) => {
      const key =
        typeof which === 'string' ? undefined : nameOfBytes(which.mentions[0] as Uint8Array);
      return subscribe('logs', (id) =>
        bank.onBlock(config.commitment ?? 'finalized', ({ slot, transactions }) => {
          for (const { signatureText: signature, err, logs, keys } of transactions) {
            if (key !== undefined && !keys.some((one) => nameOfBytes(one) === key)) continue;
            send('logs', id, notified(slot, { err, logs, signature }));
          }
        }),
      );
    }),

    signature: method({ signature: signatureText, config: signatureConfig }, (_, given) => {
      const { commitment = 'finalized', enableReceivedNotification } = given.config;
      const { signature } = given;

      function notifyOnce(id: number, slot: number, err: unknown): void {
        send('signature', id, notified(slot, { err }));
        unsubscribe(id);
      }

      return subscribe('signature', (id) => {
        const end = bank.onBlock(commitment, ({ slot, transactions }) => {
          const found = transactions.find((one) => one.signatureText === signature);
          if (found) notifyOnce(id, slot, found.err);
        });
        // A late subscriber is notified, too, right after the answer with the subscription's id.
        const found = bank.recent(signature) ?? bank.store.locate(base58.decode(signature));
        if (found && enableReceivedNotification) {
          setImmediate(
            () => open.has(id) && send('signature', id, notified(found.slot, 'receivedSignature')),
          );
        }
        if (found && found.slot <= bank.slot(commitment)) {
          const err = found.error === null ? null : JSON.parse(found.error);
          setImmediate(() => open.has(id) && notifyOnce(id, found.slot, err));
        }
        return end;
      });
    }),

    slot: method({}, () =>
      subscribe('slot', (id) =>
        everySlot(context, (slot) => {
          const parent = producedSlot(bank.mood, slot - 1);
          send('slot', id, { parent, root: bank.slot('finalized'), slot });
        }),
      ),
    ),

    root: method({}, () =>
      subscribe('root', (id) => everySlot(context, () => send('root', id, bank.slot('finalized')))),
    ),
  };

  const methods = new Map<string, Method>(
    KINDS.flatMap((kind) => [
      [`${kind}Subscribe`, subscribing[kind]] as const,
      [
        `${kind}Unsubscribe`,
        method({ id: z.int() }, (_, { id }) => open.get(id)?.kind === kind && unsubscribe(id)),
      ] as const,
    ]),
  );

  return {
    /** A method that subscribes or unsubscribes, by name; undefined for any other. */
    method: (name: string) => methods.get(name),
    close() {
      for (const id of open.keys()) unsubscribe(id);
    },
  };
}

/** A notification with its slot; the release is in answers alone. */
const notified = (slot: number, value: unknown): object => ({ context: { slot }, value });

/** A cluster's notification of a closed account. */
const CLOSED_ACCOUNT = {
  data: ['', 'base64'],
  executable: false,
  lamports: 0,
  owner: '11111111111111111111111111111111',
  rentEpoch: 0,
  space: 0,
};

let lastId = 0;
function nextId(): number {
  lastId += 1;
  return lastId;
}

/** Polls the slot, only while there are subscribers. */
function everySlot({ bank }: RpcContext, listener: (slot: number) => void): () => void {
  let notifiedSlot = bank.slot('processed');
  const timer = setInterval(() => {
    const slot = bank.slot('processed');
    if (slot <= notifiedSlot) return;
    notifiedSlot = slot;
    listener(slot);
  }, bank.timeline.slotMs).unref();
  return () => clearInterval(timer);
}
