import type { OutputOf } from '@parley/gateway/operations';

export type ShownFile = OutputOf<'files/list'>['files'][number];

/** Who may read a file, described for people. */
export function describeReaders({ readers, chat }: ShownFile): string {
  if (readers === 'conversation') return chat === undefined ? 'one chat only' : `${chat} alone`;
  return readers === 'owner' ? 'owner only' : 'everyone';
}
