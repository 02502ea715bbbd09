import type { ReactNode } from 'react';
import type { Plan } from '../../programs/client/wallet/plan.ts';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { useSignedIn } from '../session/signedIn.tsx';
import { SigningObstacle } from './signingObstacle.tsx';

/** Asks for what a plan needs. What the plan does is said, and signed, in the next dialog. */
export function PlanDialog(props: {
  title: string;
  /** The address that signs, where it may not be the wallet that is signed in. */
  signer?: string;
  /** Undefined while something that was entered is wrong; the fields say what. */
  makePlan: (() => Plan) | undefined;
  onPlan: (plan: Plan) => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const { title, signer, makePlan, onPlan, onClose, children } = props;
  const { wallet } = useSignedIn();
  const goOn = makePlan && (() => onPlan(makePlan()));
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onEnter={goOn}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={goOn === undefined} onClick={goOn}>
            See what it does
          </Button>
        </>
      }
    >
      {(signer ?? wallet) === wallet && <SigningObstacle />}
      {children}
    </Dialog>
  );
}
