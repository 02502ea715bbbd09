import { useMutation } from '@tanstack/react-query';
import type { Wallet } from '@wallet-standard/base';
import { useConfig } from '../data/ledger.ts';
import { Button } from '../design/button.tsx';
import { shorten } from '../design/formats.ts';
import { ErrorNotice, Notice } from '../design/notice.tsx';
import { useSignedIn } from '../session/signedIn.tsx';
import { type Obstacle, paymentObstacle, signInObstacle } from '../wallet/obstacles.ts';
import { connect, useConnection, useWallets } from '../wallet/wallets.ts';

/** What keeps the wallet from signing that this page cannot change; undefined while that is not known. */
function useInability(): Obstacle | undefined {
  const { wallet } = useSignedIn();
  const config = useConfig();
  const connection = useConnection();
  if (config === undefined) return undefined;
  if (config.rpc_url === null) {
    return {
      what: "This service names no ledger's node for browsers, so nothing can be signed here.",
      remedy: 'Ask its operator for one.',
    };
  }
  if (connection?.account.address !== wallet) return undefined;
  return paymentObstacle(connection, config.chain);
}

/** Whether the wallet that is signed in can sign this ledger's transactions as it is connected. */
export function useCanSign(): boolean {
  const { wallet } = useSignedIn();
  const isOwn = useConnection()?.account.address === wallet;
  return useInability() === undefined && isOwn;
}

/** Says what the wallet cannot sign here, before its owner fills in a form. */
export function Inability() {
  const obstacle = useInability();
  if (obstacle === undefined) return null;
  return (
    <Notice tone="warn">
      <p>{obstacle.what}</p>
      <p>{obstacle.remedy}</p>
    </Notice>
  );
}

/** The same before a signature, for which the wallet has to be connected too. */
export function SigningObstacle() {
  const { wallet } = useSignedIn();
  const connection = useConnection();
  const wallets = useWallets().filter((one) => signInObstacle(one) === undefined);
  const inability = useInability();
  const connecting = useMutation({ mutationFn: (one: Wallet) => connect(one) });
  if (inability !== undefined) return <Inability />;
  if (connection?.account.address === wallet) return null;
  return (
    <>
      <Notice
        tone="warn"
        action={wallets.map((one) => (
          <Button key={one.name} size="small" onClick={() => connecting.mutate(one)}>
            Connect {one.name}
          </Button>
        ))}
      >
        <p>
          {connection
            ? `The wallet shows another account than ${shorten(wallet)}.`
            : `Connect the wallet that holds ${shorten(wallet)}.`}
        </p>
      </Notice>
      <ErrorNotice error={connecting.error} money="Nothing was signed." />
    </>
  );
}
