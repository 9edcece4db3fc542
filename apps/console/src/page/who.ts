import type { OperationName, OutputOf } from '@parley/gateway/operations';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

export type Me = OutputOf<'sessions/me'>;

/** The person who is signed in; null: not known yet. */
export const Who = createContext<Me | null>(null);

/** The role that a read needs, an owner's where it is not named; null: the role of the person who is signed in is enough. */
export function missingRole({ role, routes }: Me, read?: OperationName): Me['role'] | null {
  const needed = routes[`/api/${read}`] ?? 'owner';
  return role === 'owner' || needed === 'viewer' || needed === role ? null : needed;
}

/** Whether the person who is signed in may read what an operation answers. */
export function useMayRead(read: OperationName): boolean {
  const me = useContext(Who);
  return me !== null && missingRole(me, read) === null;
}
