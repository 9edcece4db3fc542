import type { OperationName, OutputOf } from '@parley/gateway/operations';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

export type SignedInPerson = OutputOf<'sessions/me'>;

/** The signed-in person; null until known. */
export const Who = createContext<SignedInPerson | null>(null);

/**
 * The role required to read an operation, or the owner role if there is no operation; null if the
 * person's own role is sufficient.
 */
export function findMissingRole(
  { role, routes }: SignedInPerson,
  read?: OperationName,
): SignedInPerson['role'] | null {
  const needed = routes[`/api/${read}`] ?? 'owner';
  return role === 'owner' || needed === 'viewer' || needed === role ? null : needed;
}

/** Whether the signed-in person may read the result of an operation. */
export function useCanRead(read: OperationName): boolean {
  const me = useContext(Who);
  return me !== null && findMissingRole(me, read) === null;
}
