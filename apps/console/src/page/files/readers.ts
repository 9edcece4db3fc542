import type { OutputOf } from '@parley/gateway/operations';

export type ListedFile = OutputOf<'files/list'>['files'][number];

/** Describes for people who may read a file. */
export function describeReaders({ readers, chat }: ListedFile): string {
  if (readers === 'conversation') return chat === undefined ? 'one chat only' : `${chat} alone`;
  return readers === 'owner' ? 'owner only' : 'everyone';
}
