import { Keypair, PublicKey } from '@solana/web3.js';
import {
  type DisputeResolveInput,
  type EscrowErrorName,
  evidenceArguments,
  type SignedMessage,
  sign,
} from '../../../../programs/client/index.ts';
import { type DisputeCase, OTHER_HASH, openCase } from '../evidence.ts';
import { ANSWER } from '../jobs.ts';
import { hashOf, type World } from '../world.ts';
import { casesOf, type Row } from './row.ts';

type Evidence = readonly [
  evidence: readonly SignedMessage[],
  changes?: Partial<DisputeResolveInput>,
];
type EvidenceRow = readonly [
  refusal: EscrowErrorName,
  what: string,
  compose: (open: DisputeCase, world: World) => Evidence,
];

const NONE = new Uint8Array(64);
const OTHER_STATEMENT = hashOf('another statement');
const FORGER = Keypair.generate();
const ELSEWHERE = Keypair.generate().publicKey;

/** What the proofs do not say. */
const OTHER_ARGUMENTS: Partial<DisputeResolveInput>[] = [
  { recordedStatement: OTHER_STATEMENT },
  { outputHash: hashOf('a third answer') },
  { promptTokens: 21 },
  { completionTokens: 301 },
  { statement: OTHER_STATEMENT },
];
/** What proofs of the worker can be of, besides its job and attempt. */
const SUBJECTS = [
  { job: ELSEWHERE },
  { worker: ELSEWHERE },
  { attempt: 2 },
  { programId: ELSEWHERE },
];
const nameOf = (fields: object): string => Object.keys(fields).join(' and ');
const ofMessage = (key: Keypair, { message }: SignedMessage) => sign(message, key);
/** The signatures of both proofs, or other ones. */
const SIGNATURES: [
  what: string,
  compose: (open: DisputeCase, key: Keypair) => Partial<DisputeResolveInput>,
][] = [
  ['no signature of the recorded proof', () => ({ recordedSignature: NONE })],
  ['no signature of the other proof', () => ({ signature: NONE })],
  ['the recorded proof’s signature', ({ recorded }) => ({ signature: recorded.signature })],
  ['the other proof’s signature', ({ other }) => ({ recordedSignature: other.signature })],
  [
    'signatures that changed places',
    ({ recorded, other }) => ({
      recordedSignature: other.signature,
      signature: recorded.signature,
    }),
  ],
  [
    'a recorded proof itself',
    ({ recorded }, key) => ({ recordedSignature: ofMessage(key, recorded) }),
  ],
  ['another proof itself', ({ other }, key) => ({ signature: ofMessage(key, other) })],
];
const receiptTwice = ({ receiptWith }: DisputeCase, key: Keypair): Evidence => {
  const { outputHash, signature } = evidenceArguments([receiptWith({}, key)]);
  return [[], { key: key.publicKey, recordedSignature: signature, signature, outputHash }];
};
const ofOtherStatement = ({ receiptWith }: DisputeCase) =>
  receiptWith({ outputHash: ANSWER, statement: OTHER_STATEMENT });
const proofsBy = ({ proofWith }: DisputeCase, key: Keypair): Evidence => [
  [proofWith({}, key), proofWith({ outputHash: OTHER_HASH }, key)],
];

const againstWorker: EvidenceRow[] = [
  ['ProofWrongKey', 'no proof', () => [[]]],
  ['ProofWrongMessage', 'one proof twice', ({ recorded }) => [[recorded, recorded]]],
  ['ProofWrongMessage', 'the recorded proof second', ({ recorded, other }) => [[other, recorded]]],
  ['SignatureInvalid', 'the other proof twice', ({ other }) => [[other, other]]],
  ...OTHER_ARGUMENTS.map(
    (changes): EvidenceRow => [
      'SignatureInvalid',
      `another ${nameOf(changes)}`,
      ({ recorded, other }) => [[recorded, other], changes],
    ],
  ),
  ...SUBJECTS.flatMap((subject): EvidenceRow[] => [
    [
      'SignatureInvalid',
      `a proof of another ${nameOf(subject)}`,
      ({ recorded, proofWith }) => [[recorded, proofWith({ outputHash: OTHER_HASH, ...subject })]],
    ],
    [
      'SignatureInvalid',
      `a recorded proof of another ${nameOf(subject)}`,
      ({ proofWith }) => [[proofWith(subject), proofWith({ outputHash: OTHER_HASH })]],
    ],
  ]),
  ...SIGNATURES.map(
    ([what, changes]): EvidenceRow => [
      'SignatureInvalid',
      what,
      (open, { proofKey }) => [[open.recorded, open.other], changes(open, proofKey)],
    ],
  ),
  [
    'SignatureInvalid',
    'a second proof by another key',
    ({ recorded, proofWith }) => [[recorded, proofWith({ outputHash: OTHER_HASH }, FORGER)]],
  ],
  [
    'ProofWrongKey',
    'a first proof by another key',
    ({ other, proofWith }) => [[proofWith({}, FORGER), other]],
  ],
  ['ProofWrongKey', 'both proofs by another key', (open) => proofsBy(open, FORGER)],
  [
    'SignatureInvalid',
    'a receipt by its key',
    (open, { proofKey }) => receiptTwice(open, proofKey),
  ],
  ['ProofWrongKey', 'a receipt', (open, { hotSigner }) => receiptTwice(open, hotSigner)],
];

const OTHER_PEOPLE = [
  ...(['arbiter', 'wallet', 'authority', 'workerAuthority', 'proofKey', 'operator'] as const),
];
const againstGateway: EvidenceRow[] = [
  ['ProofWrongKey', 'no key', () => [[], { key: PublicKey.default, outputHash: OTHER_HASH }]],
  [
    'SignatureInvalid',
    'no receipt',
    (_, { hotSigner }) => [[], { key: hotSigner.publicKey, outputHash: OTHER_HASH }],
  ],
  [
    'ProofWrongMessage',
    'a receipt of the proven text and statement',
    ({ receiptWith, recorded }) => [[receiptWith({ outputHash: ANSWER }), recorded]],
  ],
  [
    'SignatureInvalid',
    'a receipt of another statement, without the recorded proof',
    (open) => [[ofOtherStatement(open)]],
  ],
  [
    'SignatureInvalid',
    'a receipt of another statement, beside a proof of the gateway’s own',
    (open, { hotSigner }) => [[ofOtherStatement(open), open.proofWith({}, hotSigner)]],
  ],
  ...SUBJECTS.map(
    (subject): EvidenceRow => [
      'SignatureInvalid',
      `a receipt of another statement, beside a proof of another ${nameOf(subject)}`,
      (open) => [[ofOtherStatement(open), open.proofWith(subject)]],
    ],
  ),
  [
    'SignatureInvalid',
    'a receipt of another statement, beside a proof of another text',
    (open) => [[ofOtherStatement(open), open.other]],
  ],
  [
    'SignatureInvalid',
    'a receipt that names the statement of no proof',
    ({ receiptWith, recorded }) => [
      [receiptWith({ outputHash: ANSWER }), recorded],
      { recordedStatement: OTHER_STATEMENT },
    ],
  ],
  ...[{ job: ELSEWHERE }, { programId: ELSEWHERE }].map(
    (subject): EvidenceRow => [
      'SignatureInvalid',
      `a receipt of another ${nameOf(subject)}`,
      ({ receiptWith }) => [[receiptWith(subject)]],
    ],
  ),
  [
    'SignatureInvalid',
    'a receipt of a third text',
    ({ receiptWith }) => [[receiptWith()], { outputHash: hashOf('a third answer') }],
  ],
  [
    'SignatureInvalid',
    'a receipt itself',
    ({ receiptWith }, { hotSigner }) => {
      const receipt = receiptWith();
      return [[receipt], { signature: ofMessage(hotSigner, receipt) }];
    },
  ],
  ...OTHER_PEOPLE.map(
    (person): EvidenceRow => [
      'ProofWrongKey',
      `a receipt by the ${person}`,
      ({ receiptWith }, world) => [[receiptWith({}, world[person])], { gateway: world.gateway }],
    ],
  ),
  ['ProofWrongKey', 'two proofs', (open, { proofKey }) => proofsBy(open, proofKey)],
  ['SignatureInvalid', 'two proofs by its key', (open, { hotSigner }) => proofsBy(open, hotSigner)],
];

interface Composed {
  compose: EvidenceRow[2];
}
const casesAgainst = (verdict: 'upheld_worker' | 'upheld_gateway', rows: EvidenceRow[]) =>
  casesOf<Composed>(
    'dispute_resolve',
    async (world, { compose }) => {
      const open = await openCase(world);
      const [evidence = [], changes] = compose?.(open, world) ?? [];
      return open.verdictOn(verdict, evidence, changes);
    },
    rows.map(
      ([refusal, what, compose]): Row<Composed> => [
        refusal,
        `${verdict} on ${what}`,
        () => ({ compose }),
      ],
    ),
  );

export const evidenceCases = [
  ...casesAgainst('upheld_worker', againstWorker),
  ...casesAgainst('upheld_gateway', againstGateway),
];
