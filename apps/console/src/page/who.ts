import type { OutputOf } from '@parley/gateway/operations';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

export type Me = OutputOf<'sessions/me'>;

/** The person who is signed in; null: not known yet. */
export const Who = createContext<Me | null>(null);

/** The role that reading a path needs, an owner's where there is none; null: that of who is signed in is enough. */
export function missingRole({ role, routes }: Me, path = ''): Me['role'] | null {
  const needed = routes[path] ?? 'owner';
  return role === 'owner' || needed === 'viewer' || needed === role ? null : needed;
}

/** Whether who is signed in may read a path. */
export function useMayRead(path: string): boolean {
  const me = useContext(Who);
  return me !== null && missingRole(me, path) === null;
}
