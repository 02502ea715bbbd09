import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import { Keypair, type PublicKey } from '@solana/web3.js';
import {
  PROGRAM_ID,
  type ProvenOutput,
  proofMessage,
  receiptMessage,
  signHashed,
} from '../../../../programs/client/index.ts';
import { REQUEST } from '../../../../testing/kit/jobInstructions.ts';
import { OUTPUT } from '../../../../testing/ledger/jobScene.ts';
import { changeArguments, type Fieldwise, fieldsOf, flip, set } from '../fields.ts';
import { all, type Change, eventsOf, inEvent, inJson, inList } from '../nodeChanges.ts';
import { outer } from './callLies.ts';
import { type Condition, lies, type Subjects } from './condition.ts';

const sha256 = (...parts: readonly Uint8Array[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

const OUTPUT_HASH = sha256(Buffer.from(OUTPUT));
/** What the recorded proof says. */
const RECORDED = {
  ...{ outputHash: OUTPUT_HASH, promptTokens: 10, completionTokens: 600 },
  statement: REQUEST,
};
const STRANGER = Keypair.generate();
const KEY = set({ key: STRANGER.publicKey });
/** Names a transaction that the node does not have. */
const ABSENT = base58.encode(Buffer.alloc(64, 9));

type Fields = Parameters<Fieldwise>[0];

/** Changes a verdict's instruction, which is alone in its transaction, by what its event says. */
const inVerdict = (job: PublicKey, change: (args: Fields, event: Fields) => object): Change =>
  inJson(job, 'DisputeResolved', (shown) => {
    const [event] = eventsOf(shown, 'DisputeResolved', job).map(fieldsOf);
    changeArguments(outer(shown, 0), (args) => ({ ...change(args, event as Fields) }));
  });

/** Lies about what a verdict rests on. */
export function evidenceLies({ jobs: { upheld, repaid }, service }: Subjects): Condition[] {
  const upset = 'fails history.signatures dispute.evidence';
  const unknown = 'fails history.signatures, not_checkable dispute.evidence';
  const table = (job: PublicKey, party: string, changes: Readonly<Record<string, Fieldwise>>) =>
    Object.fromEntries(
      Object.entries(changes).map(([what, change]) => [
        `${what} of the evidence against the ${party}`,
        [inVerdict(job, change), upset] as const,
      ]),
    );
  const byAnother = byStranger(upheld);
  const listed = (change: Parameters<typeof inList>[1]) =>
    all(byAnother, inList(service.workerAuthority.publicKey, change));
  const gap = { signature: ABSENT, slot: 0, err: null };
  return [
    ...lies(upheld, {
      ...table(upheld, 'worker (upheld)', {
        'the key': KEY,
        'the recorded signature': flip('recorded_signature'),
        'the recorded statement': flip('recorded_statement'),
        'the other hash': flip('output_hash'),
        'the other prompt tokens': set({ prompt_tokens: 7 }),
        'the other completion tokens': set({ completion_tokens: 7 }),
        'the other statement': flip('statement'),
        'the other signature': flip('signature'),
        'the verdict': set({ verdict: { UpheldGateway: {} } }),
      }),
      'the evidence, with the recorded proof twice, and its hash (upheld)': [
        recordedTwice(upheld),
        upset,
      ],
      'the evidence, which a stranger signed (upheld)': [byAnother, upset],
      'the evidence, which a stranger signed, and no record of the worker': [
        listed(() => []),
        `${unknown} proof.key settlement.worker_payment`,
      ],
      'the evidence, which a stranger signed, and a gap in the worker’s records': [
        listed((rows) => [gap, ...rows]),
        unknown,
      ],
    }),
    ...lies(repaid, {
      ...table(repaid, 'gateway (repaid)', {
        'the key': KEY,
        'the hash': flip('output_hash'),
        'the statement': flip('statement'),
        'the signature': flip('signature'),
        'the verdict': set({ verdict: { Rejected: {} } }),
      }),
      'the receipt, which a stranger signed (repaid)': [receiptByStranger(repaid), unknown],
      ...settledText(repaid, service, upset),
    }),
  ];
}

function messageOf(event: object, output: ProvenOutput): Uint8Array {
  const { job, worker } = event as { job: PublicKey; worker: PublicKey };
  return proofMessage({ programId: PROGRAM_ID, job, worker, attempt: 1, ...output });
}

const bytesOf = (value: unknown) => Uint8Array.from(value as number[]);

/** Both signatures are the worker's, and the hash is that of both messages. */
const recordedTwice = (job: PublicKey): Change =>
  all(
    inVerdict(job, ({ recorded_signature }) => ({
      ...{ output_hash: [...OUTPUT_HASH], prompt_tokens: 10, completion_tokens: 600 },
      ...{ statement: [...REQUEST], signature: recorded_signature },
    })),
    inEvent(job, 'DisputeResolved', (event) => {
      const message = messageOf(event, RECORDED);
      return { evidence_hash: [...sha256(message, message)] };
    }),
  );

/** A stranger signs both messages, which are those of the evidence. */
const byStranger = (job: PublicKey): Change =>
  inVerdict(job, (args, event) => {
    const other = {
      outputHash: bytesOf(args.output_hash),
      promptTokens: Number(args.prompt_tokens),
      completionTokens: Number(args.completion_tokens),
      statement: bytesOf(args.statement),
    };
    const sign = (output: ProvenOutput) => [...signHashed(messageOf(event, output), STRANGER)];
    const signed = { recorded_signature: sign(RECORDED), signature: sign(other) };
    return { key: STRANGER.publicKey, ...signed };
  });

/** A stranger's receipt is well signed, and nothing says whether he signed for the controller then. */
const receiptByStranger = (job: PublicKey): Change =>
  inVerdict(job, (args) => {
    const said = { outputHash: bytesOf(args.output_hash), statement: bytesOf(args.statement) };
    const message = receiptMessage({ programId: PROGRAM_ID, job, ...said });
    return { key: STRANGER.publicKey, signature: [...signHashed(message, STRANGER)] };
  });

/** Receipts for the settled text by the key that settled, beside proofs of that text. */
function settledText(job: PublicKey, { hotSigner, proofKey }: Subjects['service'], upset: string) {
  const evidence = (of: {
    statement: Uint8Array;
    recorded: Uint8Array;
    prover: Keypair;
  }): Change => {
    const said = { outputHash: OUTPUT_HASH, statement: of.statement };
    const receipt = receiptMessage({ programId: PROGRAM_ID, job, ...said });
    const proofIn = (event: object) => messageOf(event, { ...RECORDED, statement: of.recorded });
    return all(
      inVerdict(job, (_, event) => ({
        ...{ output_hash: [...OUTPUT_HASH], statement: [...of.statement] },
        recorded_statement: [...of.recorded],
        recorded_signature: [...signHashed(proofIn(event), of.prover)],
        signature: [...signHashed(receipt, hotSigner)],
      })),
      inEvent(job, 'DisputeResolved', (event) => ({
        evidence_hash: [...sha256(receipt, proofIn(event))],
      })),
    );
  };
  const right = { statement: OUTPUT_HASH, recorded: REQUEST, prover: proofKey };
  return {
    'a receipt of another statement beside the recorded proof': [
      evidence(right),
      'fails history.signatures',
    ],
    'a receipt of the proven statement beside the recorded proof': [
      evidence({ ...right, statement: REQUEST }),
      upset,
    ],
    'a receipt of the proven statement beside another proof': [
      evidence({ ...right, statement: REQUEST, recorded: OUTPUT_HASH }),
      upset,
    ],
    'a receipt of another statement beside a stranger’s proof': [
      evidence({ ...right, prover: STRANGER }),
      upset,
    ],
  } as const;
}
