import { countOf } from '@parley/core';
import { CliError, type DataFolder } from '../../data-folder.ts';
import { minuteText } from '../../terminal/text.ts';
import type { CheckedBackup } from './contents.ts';

/** Which processes use the state that a restore replaces. */
export type RunningUsers =
  | { readonly kind: 'none' }
  /** `parley start` on a database of its own. */
  | { readonly kind: 'process'; readonly pid: number }
  /** A PostgreSQL, on which processes of other machines may be running. */
  | { readonly kind: 'shared' };

/** What a restore is going to do, for `--dry-run` and before the question. */
export function planText(
  { manifest, rows, files }: CheckedBackup,
  users: RunningUsers,
  folder: DataFolder,
): string {
  return [
    `The backup was made at ${minuteText(manifest.madeAt)} UTC by Parley ${manifest.parley}: ${countOf(rows, 'row')} and ${countOf(files, 'file')}.`,
    `Restoring it replaces the database, workspaces and profiles of ${folder.path}. What is there now is moved aside, not deleted.`,
    ...usersText(users),
    'What was written after the backup is no longer known, except messages that still wait for an answer.',
    'Sign-ins are not in a backup: every browser has to sign in again with "parley token show", and people who were added with "parley people add" have to be added again.',
  ].join('\n');
}

function usersText(users: RunningUsers): readonly string[] {
  switch (users.kind) {
    case 'none':
      return [];
    case 'process':
      return [
        `Parley is running (process ${users.pid}): it finishes its work, takes over the restored state and starts again, which takes seconds.`,
      ];
    case 'shared':
      return [
        'Other processes may be running on this PostgreSQL. They keep running; what they are doing is discarded and done again.',
      ];
  }
}

/** Asks a person in the terminal. Throws CliError where there is none to ask. */
export async function agrees(file: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CliError(
      'restore-unconfirmed',
      `Nothing was changed: this replaces a state that is in use. Add --yes to restore ${file}.`,
    );
  }
  const { confirm } = await import('@clack/prompts');
  return (await confirm({ message: 'Restore this backup?', initialValue: false })) === true;
}
