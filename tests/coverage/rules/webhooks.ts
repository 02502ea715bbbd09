import type { Rule } from '../rule.ts';

/** Webhooks and events. */
export const webhookRules: readonly Rule[] = [
  {
    id: 'webhooks.create',
    rule: 'A webhook needs a url and events; the secret is shown at creation, and only one that we made.',
    shown: [
      'api/webhooks › creates an active webhook and shows the secret that we made, this once',
      'api/webhooks › keeps a secret of the client’s own, sealed, and never shows it',
      'api/webhooks › refuses %s and names the field',
    ],
  },
  {
    id: 'webhooks.https-only',
    rule: 'Only public https endpoints are taken, and the address is checked again at each connection.',
    shown: [
      'api/webhooks › refuses %s and names the field',
      'common/addressGuard › is not made to a name that has moved inside since it was checked',
      'common/addressGuard › is checked again for each target of a redirect',
    ],
  },
  {
    id: 'webhooks.duplicate',
    rule: 'The same url and events again is a 409 that names the webhook; a wallet has at most 20.',
    shown: [
      'api/webhooks › refuses the same url and events again and names the webhook that has them',
      'api/webhooks › refuses the 21st of a wallet, also when many are asked for at the same time',
    ],
  },
  {
    id: 'webhooks.list',
    rule: 'The list shows the wallet’s own webhooks, without secrets.',
    shown: [
      'api/webhooks › lists the wallet’s own webhooks, newest first, with their present status',
    ],
  },
  {
    id: 'webhooks.delete',
    rule: 'A deleted webhook gets nothing more; an unknown one is a 404.',
    shown: [
      'api/webhooks › deletes the webhook with what is still to be delivered to it',
      'api/webhooks › finds nothing the second time, nor under what is no id',
    ],
  },
  {
    id: 'events.subscribed-kinds',
    rule: 'A webhook gets the kinds it subscribes to; job and credit events those of its wallet.',
    shown: [
      'indexer/webhooks/announce › the webhooks of its wallet that subscribe to its kind',
      'indexer/webhooks/announce › everybody who subscribes, when it is about a worker',
    ],
  },
  {
    id: 'events.kinds',
    rule: 'Each of the ten kinds fires for the ledger event that it stands for, once.',
    shown: [
      'indexer/webhooks/payloads › is of every kind, once for each event of the ledger that it follows from',
      'indexer/webhooks/announce › happens once, however often the transaction is read',
    ],
  },
  {
    id: 'events.envelope',
    rule: 'The envelope has id, event, time, version and data.',
    shown: [
      'indexer/webhooks/payloads › comes in the envelope of the contract, with ids that never meet',
    ],
  },
  {
    id: 'events.data',
    rule: 'The data of each kind has the published fields and no other.',
    shown: ['indexer/webhooks/payloads › tells of %s what the contract says, and nothing else'],
  },
  {
    id: 'events.no-status-echo',
    rule: 'An upheld dispute is no time-out, and a rejected one no second completion.',
    shown: [
      'indexer/webhooks/payloads › makes of a dispute neither a time-out when it is upheld, nor another completion',
    ],
  },
  {
    id: 'events.credit-low',
    rule: 'credit.low fires once on crossing below the threshold of 100 or of the wallet’s own.',
    shown: [
      'indexer/webhooks/announce › fires once when the balance goes below 100, and again after it was above',
      "indexer/webhooks/announce › follows the wallet's own threshold, also one that was raised above the balance",
    ],
  },
  {
    id: 'events.signature',
    rule: 'A delivery is signed with the HMAC-SHA256 of its time and raw body under the secret.',
    shown: [
      'indexer/webhooks/delivery › is a POST of the stored body, signed so that the receiver can compute the same',
      'webhooks/verify › is what the contract says, computed by hand',
    ],
  },
  {
    id: 'events.receiver',
    rule: 'Our verifier takes genuine deliveries and refuses forged and old ones.',
    shown: [
      'webhooks/verify › refuses %s',
      'webhooks/verify › accepts a time up to its limit (%d s) and not a second more',
    ],
  },
  {
    id: 'events.rotation',
    rule: 'During a rotation receivers with either secret accept every delivery.',
    shown: [
      'indexer/webhooks/delivery › is signed with both secrets while a rotation overlaps, and with the new one after',
      'webhooks/verify › serves receivers with either secret while a rotation overlaps',
    ],
  },
  {
    id: 'events.ten-seconds',
    rule: 'An answer that is no 2xx, or that takes more than 10 s, is a failed attempt.',
    shown: [
      'indexer/webhooks/delivery › fails after ten seconds, whether the receiver is silent or drips its answer',
      'indexer/webhooks/delivery › fails when the connection breaks, or what answers does not speak HTTP',
    ],
  },
  {
    id: 'events.schedule',
    rule: 'Five attempts: at once, then 30 s, 5 min, 30 min and 2 h after the one before.',
    shown: [
      'indexer/webhooks/delivery › waits 30 s, 5 min, 30 min and 2 h, each from the end of the attempt before',
    ],
  },
  {
    id: 'events.failed',
    rule: 'After five failures the webhook is failed; what it missed can be seen and replayed.',
    shown: [
      'indexer/webhooks/delivery › marks the webhook failed with the fifth, and keeps what comes later for its owner',
      'indexer/webhooks/operate › sends what failed and what was kept, in order, and makes the webhook active again',
    ],
  },
  {
    id: 'events.never-lost',
    rule: 'An event is queued with the mirror’s own transaction, and survives the process.',
    shown: [
      'indexer/webhooks/announce › happens with the folding or not at all',
      'indexer/webhooks/killed › loses neither the event nor the count of its attempts',
    ],
  },
  {
    id: 'events.finality',
    rule: 'Events go out when confirmed, or when final where that is set.',
    shown: [
      'indexer/webhooks/announce › an event is queued when its transaction is final, and not before',
    ],
  },
  {
    id: 'events.rebuild-silent',
    rule: 'A rebuilt mirror announces nothing again.',
    shown: ['indexer/rebuild › announces no job'],
  },
  {
    id: 'events.journey',
    rule: 'A subscribed endpoint hears of a job from its lock to its settlement.',
    shown: [
      'journeys/webhooks › tells a webhook of a job from its lock to its settlement, signed, as the API tells it',
    ],
  },
  {
    id: 'events.settings-tab',
    rule: 'Webhooks can be made, and failed deliveries seen and replayed, in the web app.',
    shown: { open: 'The web app is not built; the command line has tests for the same moves.' },
  },
];
