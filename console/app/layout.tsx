import { type ReactNode, useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useConfig } from '../data/ledger.ts';
import { POLL_MS, useRead } from '../data/queries.ts';
import { Button, IconButton } from '../design/button.tsx';
import { CrossIcon, MenuIcon } from '../design/icons.tsx';
import { joinClasses } from '../design/joinClasses.ts';
import { onUse } from '../design/onUse.tsx';
import { Address, Credits } from '../design/values.tsx';
import { useSession } from '../session/session.tsx';
import { Banners } from './banners.tsx';
import styles from './layout.module.css';
import { type DestinationGroup, isCurrent, navigationFor } from './navigation.ts';

const DevelopmentWallet = onUse(() => import('../wallet/developmentWalletHost.tsx'));

/** The navigation at the left, or behind a button where there is no room, and the page beside it. */
export function Layout({ children }: { children: ReactNode }) {
  const { session } = useSession();
  const config = useConfig();
  const [path] = useLocation();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  return (
    <div className={styles.layout}>
      <a href="#main" className="skip">
        Skip to the page
      </a>
      <header className={styles.side}>
        <div className={styles.top}>
          <Brand />
          <span className={styles.menuButton}>
            <IconButton
              label={isOpen ? 'Close the menu' : 'Open the menu'}
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            >
              {isOpen ? <CrossIcon /> : <MenuIcon />}
            </IconButton>
          </span>
        </div>
        <div className={joinClasses(styles.menu, isOpen && styles.open)}>
          <nav aria-label="Pages" className={styles.nav}>
            {navigationFor(session).map((group) => (
              <Group key={group.name} group={group} path={path} />
            ))}
          </nav>
          <Account />
        </div>
        {config?.development_wallet_url != null && (
          <p className={styles.development}>
            DEVELOPMENT: a local ledger, whose credits and tokens are worth nothing
          </p>
        )}
      </header>
      {config?.development_wallet_url != null && (
        <DevelopmentWallet url={config.development_wallet_url} chain={config.chain} />
      )}
      <main id="main" className={styles.main} tabIndex={-1}>
        <Banners />
        {children}
      </main>
    </div>
  );
}

function Group({ group, path }: { group: DestinationGroup; path: string }) {
  return (
    <div>
      <p className={styles.group}>{group.name}</p>
      <ul>
        {group.destinations.map(({ path: target, name }) => (
          <li key={target}>
            {target.startsWith('/console') ? (
              <Link
                href={target}
                className={styles.link}
                aria-current={isCurrent(target, path) ? 'page' : undefined}
              >
                {name}
              </Link>
            ) : (
              <a href={target} className={styles.link}>
                {name}
              </a>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Account() {
  const { session, error } = useSession();
  const chain = useConfig()?.chain;
  return (
    <div className={styles.account}>
      {session ? (
        <Wallet address={session.wallet} />
      ) : session === undefined && error ? (
        <p className="soft">Who is signed in is not known at present.</p>
      ) : (
        <SignIn />
      )}
      <p className={styles.ledger}>{chain ?? ' '}</p>
    </div>
  );
}

function SignIn() {
  const { askSignIn } = useSession();
  return (
    <Button
      kind="primary"
      onClick={() => {
        askSignIn('Your wallet owns your credits and your API key.').catch(() => {});
      }}
    >
      Sign in
    </Button>
  );
}

function Wallet({ address }: { address: string }) {
  const { signOut, signOutError } = useSession();
  return (
    <>
      <Balance />
      <div className={styles.wallet}>
        <Address address={address} what="your wallet's address" />
        <Button kind="quiet" size="small" onClick={() => void signOut().catch(() => undefined)}>
          Sign out
        </Button>
      </div>
      {signOutError && (
        <p className="soft" role="alert">
          You are still signed in. {signOutError.message}
        </p>
      )}
    </>
  );
}

function Balance() {
  const { data, error } = useRead('/account', { everyMs: POLL_MS.sums });
  return (
    <Link href="/console/credits" className={styles.balance}>
      <span className="offscreen">Credits available: </span>
      {data ? (
        <Credits credits={data.available_credits} isNamed />
      ) : (
        <span className={styles.pending}>{error ? 'not known' : ' '}</span>
      )}
    </Link>
  );
}

function Brand() {
  return (
    <Link href="/console" className={styles.brand}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <rect width="16" height="16" rx="3.5" fill="var(--accent-fill)" />
        <path d="M4.25 8.25 7 11l4.75-6" fill="none" stroke="#fff" strokeWidth="1.75" />
      </svg>{' '}
      svc
    </Link>
  );
}
