import {
  createAddresses,
  PublicKey,
  type SignedMessage,
  verdictInstruction,
} from '@svc-inference/client/wallet';
import { useState } from 'react';
import type { Plan } from '../../../programs/client/wallet/plan.ts';
import { useConfig, verifyLink } from '../../data/ledger.ts';
import { useRead } from '../../data/queries.ts';
import { Button } from '../../design/button.tsx';
import { Drawer } from '../../design/dialog.tsx';
import { SelectField, TextArea } from '../../design/field.tsx';
import { Notice, Reading } from '../../design/notice.tsx';
import { Facts } from '../../design/page.tsx';
import { Address, Credits, Transaction } from '../../design/values.tsx';
import { SigningObstacle } from '../../ledger/signingObstacle.tsx';
import { TransactionDialog } from '../../ledger/transactionDialog.tsx';
import { useSignedIn } from '../../session/signedIn.tsx';
import { type Judged, judgeProofs, judgeReceipt, type OpenDispute } from './evidence.ts';

type Verdict = 'rejected' | 'upheld_gateway' | 'upheld_worker';

const VERDICTS = [
  ['rejected', 'Rejected: the charge stands'],
  ['upheld_gateway', 'Upheld against the gateway, by its receipt'],
  ['upheld_worker', 'Upheld against the worker, by two proofs'],
] as const;

/** One dispute: its facts, the evidence judged in this browser, and the verdict's transaction. */
export default function VerdictDrawer({
  dispute,
  onClose,
}: {
  dispute: OpenDispute;
  onClose: () => void;
}) {
  const { wallet, roles } = useSignedIn();
  const config = useConfig();
  const rules = useRead('/operator/ledger');
  const arbiter = rules.data?.arbiter;
  const [verdict, setVerdict] = useState<Verdict>('rejected');
  const [entered, setEntered] = useState<Entered>({ svc: '', recorded: '', other: '' });
  const [plan, setPlan] = useState<Plan>();
  const programId = config?.program_id;
  const judged = programId === undefined ? undefined : judge(verdict, entered, dispute, programId);
  const decide = () => {
    if (!judged?.convicts || programId === undefined || arbiter === undefined) return;
    setPlan(verdictPlan({ dispute, verdict, evidence: judged.evidence, arbiter, programId }));
  };
  return (
    <Drawer
      title={dispute.job_id}
      onClose={onClose}
      foot={
        <Button kind="primary" disabled={!judged?.convicts || !arbiter} onClick={decide}>
          {roles.arbiter ? 'See what the verdict does' : 'Prepare it for the arbiter to sign'}
        </Button>
      }
    >
      <DisputeFacts dispute={dispute} />
      <Reading of={rules} what="who the arbiter is" money="Nothing was decided." />
      {arbiter === wallet && <SigningObstacle />}
      <SelectField
        label="Verdict"
        options={VERDICTS}
        value={verdict}
        onChange={({ target }) => setVerdict(target.value as Verdict)}
      />
      <EvidenceFields verdict={verdict} entered={entered} onChange={setEntered} />
      {judged && (
        <Notice tone={judged.convicts ? 'ok' : 'bad'}>
          <p>{judged.finding}</p>
        </Notice>
      )}
      {plan && <TransactionDialog plan={plan} onClose={() => setPlan(undefined)} />}
    </Drawer>
  );
}

/** The evidence as it is entered. */
interface Entered {
  readonly svc: string;
  readonly recorded: string;
  readonly other: string;
}

/** @returns undefined while evidence is missing */
function judge(
  verdict: Verdict,
  { svc, recorded, other }: Entered,
  dispute: OpenDispute,
  programId: string,
): Judged | undefined {
  if (verdict === 'upheld_gateway') {
    return svc === '' ? undefined : judgeReceipt(svc, recorded, dispute, programId);
  }
  if (verdict === 'upheld_worker') {
    const isWhole = recorded !== '' && other !== '';
    return isWhole ? judgeProofs([recorded, other], dispute, programId) : undefined;
  }
  return { convicts: true, evidence: [], finding: 'Without evidence the charge stands.' };
}

function EvidenceFields(props: {
  verdict: Verdict;
  entered: Entered;
  onChange: (entered: Entered) => void;
}) {
  const { verdict, entered, onChange } = props;
  const set = (name: keyof Entered) => ({
    value: entered[name],
    onChange: ({ target }: { target: { value: string } }) =>
      onChange({ ...entered, [name]: target.value }),
  });
  if (verdict === 'rejected') return null;
  const isGateways = verdict === 'upheld_gateway';
  const form = 'As JSON: {"public_key", "message", "signature"}';
  return (
    <>
      {isGateways && <TextArea label="The svc of the client's answer" isCode {...set('svc')} />}
      <TextArea
        label="The recorded proof"
        hint={isGateways ? `Where the receipt is for the proven text. ${form}` : form}
        isCode
        {...set('recorded')}
      />
      {!isGateways && (
        <TextArea label="The other proof of the same attempt" isCode {...set('other')} />
      )}
    </>
  );
}

function DisputeFacts({ dispute }: { dispute: OpenDispute }) {
  const config = useConfig();
  const { wallet, job_id, settlement_tx, dispute_tx } = dispute;
  const known = { rpc: config?.rpc_url, program: config?.program_id, wallet };
  return (
    <Facts
      entries={[
        ['Model', dispute.model],
        ['Charged', <Credits key="charged" credits={dispute.credits_charged} size="line" />],
        ['Wallet', <Address key="wallet" address={wallet} />],
        ['Opened by', dispute.disputed_by_wallet ? 'the wallet' : 'its controller'],
        ['Hash of the proven text', <code key="proof">{dispute.proof_hash}</code>],
        ["Hash of the client's text", <code key="client">{dispute.your_hash}</code>],
        ['Attempt', String(dispute.attempt)],
        ['Settlement', settlement_tx && <Transaction key="settlement" signature={settlement_tx} />],
        ['Dispute', dispute_tx && <Transaction key="dispute" signature={dispute_tx} />],
        [
          'Verification',
          <a key="verify" href={verifyLink(job_id, known)}>
            Verify the job by any node
          </a>,
        ],
      ]}
    />
  );
}

function verdictPlan(decision: {
  readonly dispute: OpenDispute;
  readonly verdict: Verdict;
  readonly evidence: readonly SignedMessage[];
  readonly arbiter: string;
  readonly programId: string;
}): Plan {
  const { dispute, verdict, evidence, arbiter } = decision;
  const programId = new PublicKey(decision.programId);
  const [receipt] = evidence;
  const isByOther =
    verdict === 'upheld_gateway' && receipt?.publicKey.toBase58() !== dispute.settled_by;
  return {
    title: `Decide ${dispute.job_id}`,
    signer: arbiter,
    instructions: [
      verdictInstruction(evidence, {
        programId,
        arbiter: new PublicKey(arbiter),
        // A signer of the gateway other than the one that settled counts by the gateway's list.
        ...(isByOther && { gateway: new PublicKey(dispute.controller) }),
        job: new PublicKey(dispute.job_address),
        creditAccount: createAddresses(programId).creditAccount(new PublicKey(dispute.wallet)),
        worker: new PublicKey(dispute.worker_address ?? ''),
        verdict,
      }),
    ],
    describe: () =>
      verdict === 'rejected'
        ? [`The charge of ${dispute.credits_charged} credits stands.`]
        : [
            `${dispute.credits_charged} credits are owed to the wallet.`,
            ...(verdict === 'upheld_worker'
              ? [`The worker loses up to ${dispute.slash_tokens} staked tokens.`]
              : []),
          ],
  };
}
