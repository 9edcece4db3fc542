import { useEffect, useState } from 'preact/hooks';
import { request } from '../session.ts';
import { readPairing, type UnlinkedAccount } from './read-pairing.ts';

/** A code is good for 20 s at least; while somebody waits it is asked for this often, in ms. */
const SOON_MS = 3_000;
/** Otherwise an account that has to be linked anew may be told a little later, in ms. */
const LATER_MS = 60_000;

/** The accounts that wait for a phone to scan their code, as long as the page is online. */
export function usePairing(isOnline: boolean): readonly UnlinkedAccount[] {
  const [unlinked, setUnlinked] = useState<readonly UnlinkedAccount[]>([]);
  useEffect(() => {
    if (!isOnline) return;
    let isOver = false;
    let timer: number | undefined;
    const look = async (): Promise<void> => {
      const answer = await askStatus();
      if (isOver) return;
      const pairing = readPairing(answer);
      setUnlinked((old) => (isSame(old, pairing.unlinked) ? old : pairing.unlinked));
      timer = window.setTimeout(look, pairing.isMoving ? SOON_MS : LATER_MS);
    };
    look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [isOnline]);
  return isOnline ? unlinked : [];
}

async function askStatus(): Promise<unknown> {
  try {
    const response = await request('/api/status');
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

function isSame(a: readonly UnlinkedAccount[], b: readonly UnlinkedAccount[]): boolean {
  return a.length === b.length && a.every(({ id, code }, nth) => is(b[nth], id, code));
}

function is(account: UnlinkedAccount | undefined, id: string, code: string): boolean {
  return account?.id === id && account.code === code;
}
